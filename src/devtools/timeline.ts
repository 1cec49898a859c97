/** What this page has heard of each operation since the panel was opened: attempts, waits and ends, of its own calls and from other panels. Limited in size. */
import type { OnceEvent, Outcome } from 'oncefetch';
import { encodeName, isUnnamed } from '../core/name.js';
import type { Evidence } from './reading.js';

/** Where a step happened, if not in this page's client: in another tab, in a worker, or in another client of this page. */
export type Where = 'tab' | 'worker' | 'page';

/**
 * One step of an operation under a key. `track`: the operation. `where`: absent for a step of this page's client. `sentBefore`: this is
 * the first attempt that the panel saw under the key, but the operation had been sent before, by an earlier page or elsewhere.
 */
export type Step = { readonly id: string; readonly at: number; readonly track: string; readonly key: string; readonly where?: Where | undefined } & (
  | { readonly is: 'attempt'; readonly attempt: number; evidence?: Evidence | undefined; sentBefore?: boolean }
  | { readonly is: 'wait'; readonly until: number | undefined; readonly why: string }
  | { readonly is: 'end'; readonly outcome: Outcome }
  | { readonly is: 'diagnostic'; readonly code: string; readonly message: string }
);

export type AttemptStep = Extract<Step, { is: 'attempt' }>;

/** Identifies this page or worker among those of its origin. It must be unique, but it need not be secret. */
export const REALM = `${Date.now().toString(36)}${Math.random().toString(36).slice(1)}`;

/** How many steps the panels of this realm have made so far. */
let made = 0;

const STEPS_MAX = 60;
const TRACKS_MAX = 300;

/** The track of an operation: its label, or its key if it has no name. */
export const trackOf = (label: string, key: string): string => (isUnnamed(label as Parameters<typeof isUnnamed>[0]) ? `~${key}` : label);

const trackOfEvent = ({ operation, key }: OnceEvent): string => (operation ? encodeName(operation) : `~${key}`);

function stepOf(event: OnceEvent): Step {
  const { at, key } = event;
  const about = { id: `${REALM} ${++made}`, at, key, track: trackOfEvent(event) };
  switch (event.type) {
    case 'attempt':
      return { ...about, is: 'attempt', attempt: event.attempt };
    case 'wait':
      return { ...about, is: 'wait', until: event.until, why: event.why };
    case 'diagnostic':
      return { ...about, is: 'diagnostic', code: event.code, message: event.message };
    default:
      return { ...about, is: 'end', outcome: event.outcome };
  }
}

export class Timeline {
  readonly #tracks = new Map<string, Step[]>();

  /** Adds an event. Gives the step, to which evidence may be added later. */
  hear(event: OnceEvent): Step {
    const step = stepOf(event);
    this.take(step);
    return step;
  }

  /** Adds a step, or replaces it if more is known of it now. */
  take(step: Step): void {
    const { id, at, track } = step;
    const steps = this.#tracks.get(track) ?? [];
    // Move the track to the end, so that those without news are dropped first.
    this.#tracks.delete(track);
    this.#tracks.set(track, steps);
    const known = steps.findIndex((one) => one.id === id);
    // Steps from other panels arrive late, so insert them by their time.
    const later = steps.filter((one) => one.at > at).length;
    steps.splice(known < 0 ? steps.length - later : known, known < 0 ? 0 : 1, step);
    if (steps.length > STEPS_MAX) steps.shift();
    for (const oldest of this.#tracks.keys()) {
      if (this.#tracks.size <= TRACKS_MAX) break;
      this.#tracks.delete(oldest);
    }
  }

  /** The steps of this page's client. */
  get own(): readonly Step[] {
    return [...this.#tracks.values()].flat().filter(({ where }) => where === undefined);
  }

  of(track: string): readonly Step[] {
    return this.#tracks.get(track) ?? [];
  }

  /** The tracks; the one with the latest news is the last. */
  get tracks(): readonly string[] {
    return [...this.#tracks.keys()];
  }

  /** The attempts under one key. */
  attempts(track: string, key: string): readonly AttemptStep[] {
    return this.of(track).filter((step): step is AttemptStep => step.is === 'attempt' && step.key === key);
  }

  /** Whether an attempt under this key may have had its effect, as far as panels have seen. */
  ambiguous(track: string, key: string): boolean {
    return this.attempts(track, key).some(({ evidence, sentBefore }) => sentBefore || evidence?.reading.ambiguous);
  }

  clear(): void {
    this.#tracks.clear();
  }
}
