/** The show: the two lanes run by themselves, cart after cart, until the visitor takes over. */
import { element, part, say } from './dom.ts';
import { titleOf } from './faults.ts';
import { drawRun, freshSeed, type Step, seedOf } from './run.ts';

/** How long a result stays on the screen before the next cart. */
const LOOK_MS = 3500;
const BEGIN_MS = 1200;
const POLL_MS = 100;

export interface Stage {
  /** Switches to a new cart, sets this fault, and presses Pay in both lanes. */
  play(step: Step): Promise<void>;
  busy(): boolean;
  /** Starts a run, before its first cart. */
  begin(seed: number): void;
  /** Ends a run: its last customer leaves. */
  end(): void;
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * `newcomer`: starts by itself, as it also does when a link names a run. `hands`: a click or a key press in these
 * elements pauses the show.
 */
export function startShow(root: HTMLElement, stage: Stage, newcomer: boolean, hands: readonly HTMLElement[]): void {
  const linked = seedOf(location.search);
  const seed = linked ?? freshSeed();
  const steps = drawRun(seed);
  const button = part<HTMLButtonElement>(root, 'show-play');
  const list = part(root, 'show-steps');
  part<HTMLAnchorElement>(root, 'show-link').href = `?seed=${seed}`;
  say(part(root, 'show-link'), `Link to run ${seed}`);
  list.replaceChildren(...steps.map(({ fault }) => element('li', {}, [titleOf(fault)])));

  let at = 0;
  /** A new object for each press of Play. A paused show finds another object, and does not continue beside the new one. */
  let turn: object | undefined;
  const draw = (): void => {
    say(button, turn ? 'Pause' : at === 0 ? 'Play' : at < steps.length ? 'Go on' : 'Play again');
    [...list.children].forEach((item, index) => {
      index === at - 1 ? item.setAttribute('aria-current', 'step') : item.removeAttribute('aria-current');
    });
  };
  const pause = (): void => {
    turn = undefined;
    draw();
  };
  const play = async (): Promise<void> => {
    const mine = {};
    turn = mine;
    if (at === steps.length) at = 0;
    if (at === 0) stage.begin(seed);
    while (turn === mine && at < steps.length) {
      const step = steps[at++] as Step;
      draw();
      await stage.play(step);
      do await sleep(POLL_MS);
      while (stage.busy());
      await sleep(LOOK_MS);
    }
    if (turn === mine) {
      stage.end();
      pause();
    }
  };
  button.addEventListener('click', () => (turn ? pause() : void play()));
  for (const place of hands) for (const type of ['pointerdown', 'keydown'] as const) place.addEventListener(type, () => turn && pause());
  draw();
  // The show does not start by itself for visitors who prefer reduced motion.
  if (matchMedia('(prefers-reduced-motion: reduce)').matches) return;
  if (newcomer || linked !== undefined) setTimeout(() => !turn && at === 0 && void play(), BEGIN_MS);
}
