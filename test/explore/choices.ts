/** A schedule as the choices that were made in it, and what each of them cost. */

/** One way in which the world can go on. The first of several is what happens when nothing goes wrong, and costs nothing. */
export interface Option {
  readonly label: string;
  /** It is a fault of the world, or something that a person does in between. */
  readonly faults?: number;
  /** Another context, copy or call goes on than the one whose turn it is. */
  readonly switches?: number;
}

export interface Bounds {
  readonly faults: number;
  readonly switches: number;
}

/** A point where the world could have gone on in more than one way. */
export interface Point {
  readonly options: readonly Option[];
  /** Its place among all choices of its schedule, those included in which the bounds left one option: the same for any bounds. */
  readonly number: number;
  readonly left: Bounds;
  taken: number;
}

/** What is taken where the schedule says nothing: `undefined` for the first option. */
export type Script = (at: number, options: readonly Option[]) => number | undefined;

/** Thrown by a script that names an option which is not there. */
export class NoSuchChoice extends Error {}

export class Chooser {
  readonly points: Point[] = [];
  /** Nothing goes wrong any more. */
  calm = false;
  /** Told of every choice, so that whoever it happened to can tell two pasts apart. */
  chosen: (label: string) => void = () => {};
  readonly #script: Script;
  #number = 0;
  readonly #left: { faults: number; switches: number };

  constructor(bounds: Bounds, script: Script) {
    this.#left = { ...bounds };
    this.#script = script;
  }

  get left(): Bounds {
    return { ...this.#left };
  }

  /** Whether there is more than one way within the bounds. */
  open(options: readonly Option[]): boolean {
    return options.filter((one) => this.#affords(one)).length > 1;
  }

  #affords({ faults = 0, switches = 0 }: Option): boolean {
    return faults <= this.#left.faults && switches <= this.#left.switches;
  }

  /** The index of the option that is taken. Those that the bounds forbid are not offered. `more`: there would be others, which the bounds forbid. */
  choose(options: readonly Option[], more: () => boolean = () => false): number {
    if (this.calm || (options.length < 2 && !more())) return 0;
    const number = this.#number++;
    const open = options.filter((one) => this.#affords(one));
    if (open.length < 2) return 0;
    const left = this.left;
    const taken = this.#script(this.points.length, open) ?? 0;
    const option = open[taken];
    if (!option) throw new NoSuchChoice(`choice ${this.points.length} has ${open.length} options, not ${taken}`);
    this.points.push({ options: open, number, left, taken });
    this.#left.faults -= option.faults ?? 0;
    this.#left.switches -= option.switches ?? 0;
    if (taken > 0) this.chosen(option.label);
    return options.indexOf(option);
  }

  /** Whether a fault strikes. */
  strikes(label: string): boolean {
    return this.choose([{ label: `no ${label}` }, { label, faults: 1 }]) === 1;
  }
}

/** The schedule as text: the choices that were not the first option, each with its number. */
export const textOf = (points: readonly Point[]): string =>
  points.flatMap(({ taken, options, number }) => (taken ? [`${number}:${(options[taken] as Option).label}`] : [])).join('; ');

/** A script that plays such a text again. */
export function scriptOf(text: string): Script {
  const wanted = new Map(
    text
      .split(';')
      .map((one) => one.trim())
      .filter((one) => one !== '')
      .map((one) => {
        const [at = '', ...label] = one.split(':');
        return [Number(at), label.join(':')] as const;
      }),
  );
  return (at, options) => {
    const label = wanted.get(at);
    if (label === undefined) return undefined;
    const found = options.findIndex((option) => option.label === label);
    if (found < 0) throw new NoSuchChoice(`choice ${at} can't be "${label}"; it can be ${options.map((option) => `"${option.label}"`).join(', ')}`);
    return found;
  };
}

/** A schedule that is to be played: its first choices are fixed, and it takes the first option of all that follow. */
export interface Schedule {
  readonly chooser: Chooser;
  /** How many choices are fixed. */
  readonly fixed: number;
}

/** Depth first: each schedule follows the one before it up to that one's last choice with an option left, and takes the next option there. */
export function* depthFirst(bounds: Bounds): Generator<Schedule, void, void> {
  let points: Point[] = [];
  for (;;) {
    const fixed = points.map(({ taken }) => taken);
    const chooser = new Chooser(bounds, (at) => fixed[at]);
    yield { chooser, fixed: fixed.length };
    points = chooser.points;
    while (points.length && (points.at(-1) as Point).taken + 1 >= (points.at(-1) as Point).options.length) points.pop();
    const branch = points.at(-1);
    if (!branch) return;
    branch.taken++;
  }
}
