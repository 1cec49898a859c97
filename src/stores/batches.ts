/**
 * Attempts of different operations that are under way at once, together in one request to the server: it takes about as long as
 * one of them alone. Each of them gets the word that is its own.
 */
import type { Answer, Attempt } from './compare-and-set.js';

/** Attempts in one request, and the length of their records together: it is under way as a whole, and the server is busy with it. */
const BATCH_MAX = 512;
const UNITS_MAX = 262_144;
/** Requests under way; what comes meanwhile goes with the next one. */
const UNDER_WAY_MAX = 2;
/** A request that takes longer holds up no other one, ms: its connection may be silent, or a row in it locked. */
const SLOW_MS = 100;

/** What came of each attempt of a batch, in its order. One that takes longer, or fails, does so for itself. */
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

  /** @param send - sends them in one request. Where it rejects, that is what came of all of them. */
  constructor(send: (attempts: readonly Attempt[]) => Promise<Ends>) {
    this.#send = send;
  }

  attempt(attempt: Attempt): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ attempt, resolve, reject });
      if (this.#due) return;
      this.#due = true;
      // After all those that were asked for by the same answer.
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

  /** The first that wait. A record is in a batch once: what was given up may still wait beside what was asked for since. */
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
        else reject(new Error('the store did not say what came of it'));
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
