/**
 * Sends attempts of different operations that are made at the same time to the server in one request, which takes about as long as a
 * request for one of them. Each gets its own answer.
 */
import type { Answer, Attempt } from './compare-and-set.js';

/** The most attempts in one request, and the most UTF-16 units in their records together, so that one request does not keep the server busy for long. */
const BATCH_MAX = 512;
const UNITS_MAX = 262_144;
/** The most requests under way. Attempts that come meanwhile go into the next one. */
const UNDER_WAY_MAX = 2;
/** A request that takes longer than this no longer counts as under way, ms: its connection may be silent, or one of its rows locked. */
const SLOW_MS = 100;

/** The answers to the attempts of a batch, in the same order. An attempt that takes longer or fails does not affect the others. */
export type Ends = readonly (Answer | Promise<Answer>)[];

interface Asked {
  readonly attempt: Attempt;
  readonly resolve: (answer: Answer | Promise<Answer>) => void;
  readonly reject: (error: unknown) => void;
}

export class Batches {
  readonly #send: (attempts: readonly Attempt[]) => Promise<Ends>;
  #waiting: Asked[] = [];
  #underWay = 0;
  #due = false;

  /** @param send - sends the attempts in one request. If it rejects, all of them fail with that. */
  constructor(send: (attempts: readonly Attempt[]) => Promise<Ends>) {
    this.#send = send;
  }

  attempt(attempt: Attempt): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ attempt, resolve, reject });
      if (this.#due) return;
      this.#due = true;
      // A microtask, so that all attempts that are made in reaction to the same answer are sent together.
      queueMicrotask(() => {
        this.#due = false;
        this.#pump();
      });
    });
  }

  #pump(): void {
    while (this.#waiting.length > 0 && this.#underWay < UNDER_WAY_MAX) {
      this.#underWay++;
      let held = true;
      const release = (): void => {
        if (!held) return;
        held = false;
        this.#underWay--;
        this.#pump();
      };
      const slow = setTimeout(release, SLOW_MS);
      void this.#ask(this.#next()).finally(() => {
        clearTimeout(slow);
        release();
      });
    }
  }

  /** Takes the next batch from those that wait. Each record is in it only once: an attempt that was given up may still wait beside a newer one. */
  #next(): readonly Asked[] {
    const ids = new Set<string>();
    const batch: Asked[] = [];
    const later: Asked[] = [];
    let units = 0;
    let full = false;
    for (const asked of this.#waiting) {
      const { id, text } = asked.attempt;
      full ||= batch.length === BATCH_MAX || (batch.length > 0 && units + text.length > UNITS_MAX);
      if (full || ids.has(id)) later.push(asked);
      else {
        ids.add(id);
        units += text.length;
        batch.push(asked);
      }
    }
    this.#waiting = later;
    return batch;
  }

  async #ask(batch: readonly Asked[]): Promise<void> {
    try {
      const ends = await this.#send(batch.map(({ attempt }) => attempt));
      for (const [n, { resolve, reject }] of batch.entries()) {
        const end = ends[n];
        if (end) resolve(end);
        else reject(new Error('the store gave no result for this update'));
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
