/** What this page has heard of each operation since the panel is there: attempts, waits, ends, of its own calls and of those of other panels. Bounded. */
import type { OnceEvent, Outcome } from 'oncefetch';
import { encodeName, isUnnamed } from '../core/name.js';
import type { Evidence } from './reading.js';

/** Where a step was made, if not by this page's client: in another tab, in a worker, or by another client of this page. */
export type Where = 'tab' | 'worker' | 'page';

/**
 * One step of an operation, with the key that it was made under. `track`: which operation. `where`: absent for a step of this page's
 * client. `sentBefore`: of the first attempt that was seen under a key: it had been sent already, by an earlier page or elsewhere.
 */
export type Step = { readonly id: string; readonly at: number; readonly track: string; readonly key: string; readonly where?: Where | undefined } & (
  | { readonly is: 'attempt'; readonly attempt: number; evidence?: Evidence | undefined; sentBefore?: boolean }
  | { readonly is: 'wait'; readonly until: number | undefined; readonly why: string }
  | { readonly is: 'end'; readonly outcome: Outcome }
  | { readonly is: 'diagnostic'; readonly code: string; readonly message: string }
);

export type AttemptStep = Extract<Step, { is: 'attempt' }>;

/** This page or worker, among those of its origin: no secret, so any number that nobody else has. */
export const REALM = `${Date.now().toString(36)}${Math.random().toString(36).slice(1)}`;

/** Steps of this realm, of all its panels. */
let made = 0;

const STEPS_MAX = 60;
const TRACKS_MAX = 300;

/** Where the steps of an operation are: by its name, or by its key if it has none. */
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

  /** Notes an event; what it gives is the step, to which evidence may be added later. */
  hear(event: OnceEvent): Step {
    const step = stepOf(event);
    this.take(step);
    return step;
  }

  /** Notes a step, or what is known of it by now. */
  take(step: Step): void {
    const { id, at, track } = step;
    const steps = this.#tracks.get(track) ?? [];
    // The one that was heard of last is the last to go.
    this.#tracks.delete(track);
    this.#tracks.set(track, steps);
    const known = steps.findIndex((one) => one.id === id);
    // Those of others arrive late.
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

  /** The tracks, the one that was heard of last at the end. */
  get tracks(): readonly string[] {
    return [...this.#tracks.keys()];
  }

  /** The attempts under one key. */
  attempts(track: string, key: string): readonly AttemptStep[] {
    return this.of(track).filter((step): step is AttemptStep => step.is === 'attempt' && step.key === key);
  }

  /** Whether an attempt under this key may have had its effect, as far as panels saw. */
  ambiguous(track: string, key: string): boolean {
    return this.attempts(track, key).some(({ evidence, sentBefore }) => sentBefore || evidence?.reading.ambiguous);
  }

  clear(): void {
    this.#tracks.clear();
  }
}
