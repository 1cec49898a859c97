/** The data of the panel: what it hears of this page's calls and from other panels, and what it reads from the store whenever that may have changed. */

import { namespace, type Once, watch } from 'oncefetch';
import { readRecord } from '../core/record.js';
import { keyedOperationOf } from '../engine/address.js';
import type { Client } from '../engine/client.js';
import { Faults } from './faults.js';
import { faceOf, insideOf } from './inside.js';
import { Others } from './others.js';
import { type Row, rowsOf, stampOf } from './rows.js';
import { NOTHING, readStore, type Stored } from './stored.js';
import { Tap } from './tap.js';
import { Timeline, trackOf } from './timeline.js';

/** How long after a change the store is read, ms, so that many changes in a row are read once. */
const READ_AFTER_MS = 100;
/**
 * How often the store is read again while the panel is open, ms: another tab tells when a call begins and ends, but not what it stores, and
 * it may die without telling.
 */
const READ_AGAIN_MS = 1000;

/** The pause between two reads, as a multiple of how long a read took: a store with a thousand operations must not slow the page down. */
const READ_SHARE = 5;

export class Model {
  readonly client: Client;
  readonly faults = new Faults();
  readonly timeline = new Timeline();
  stored: Stored = NOTHING;
  /** Why the store could not be read; `undefined` if it could. */
  trouble: string | undefined;
  readonly #changed: () => void;
  readonly #tap: Tap;
  readonly #others: Others;
  readonly #once: Once;
  readonly #stop: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #due = 0;
  #tookMs = 0;
  #reading = false;
  #stale = false;
  #over = false;
  #person: string | undefined;
  #looked = false;

  constructor(once: Once, changed: () => void) {
    this.#once = once;
    this.client = insideOf(once);
    this.#changed = changed;
    this.#person = namespace(once);
    this.#tap = new Tap({
      faults: this.faults,
      timeline: this.timeline,
      sentBefore: (track, key) => this.#sentBefore(track, key),
      told: (step) => {
        this.#soon();
        if (step) this.#others.tell([step]);
      },
      // A client that was extended from this one may have another user, whose operations are not in the list.
      isMine: ({ foreign }, of) => {
        this.#follow();
        return !foreign && namespace(faceOf(of)) === this.#person;
      },
    });
    this.#others = new Others(this.client, {
      own: () => this.timeline.own,
      hear: (steps) => {
        this.#follow();
        for (const step of steps) this.timeline.take(step);
        this.#soon();
      },
    });
    this.#tap.take(this.client);
    this.#stop = watch(once, () => {
      this.#follow();
      this.#soon();
    });
    this.client.closing.addEventListener('abort', this.#soon);
    this.#soon(0);
  }

  get rows(): readonly Row[] {
    this.#follow();
    return rowsOf(this.client, this.stored, this.timeline);
  }

  /** Whether the panel is open. */
  set looked(looked: boolean) {
    this.#looked = looked;
    if (looked) this.#soon(0);
  }

  /** Whether this page can send the request of an operation: the server remembers its key, and it is in memory or can be read from the store. */
  sends({ id, key, record }: Row): boolean {
    const { registry, parts, platform } = this.client;
    if (!record?.link && (record?.windowEndsAt ?? Number.POSITIVE_INFINITY) <= platform.clock.now()) return false;
    return registry.payloads.has(keyedOperationOf(id as never, key as never)) || !!(record?.request && parts.requests);
  }

  /**
   * Whether the stored record is still what the row shows. By now its name may stand for another operation or for another user's, and
   * another tab may have sent what the row shows as not sent.
   */
  async isStill({ id, record }: Row): Promise<boolean> {
    if (!record) return false;
    const { registry, store } = this.client;
    const stored = readRecord(await (registry.degraded.get(id as never) ?? store).read(record.id));
    return stampOf(id, stored) === stampOf(id, record) && this.rows.some((row) => row.id === id);
  }

  end(): void {
    this.#over = true;
    clearTimeout(this.#timer);
    this.#stop();
    this.client.closing.removeEventListener('abort', this.#soon);
    this.faults.clear();
    this.#tap.release();
    this.#others.end();
  }

  /** If the user has changed, removes everything of the previous user. */
  #follow(): void {
    const present = namespace(this.#once);
    if (present === this.#person) return;
    this.#person = present;
    this.timeline.clear();
    this.stored = NOTHING;
    this.#others.ask();
    this.#soon();
  }

  #sentBefore(track: string, key: string): boolean {
    return this.stored.found.some(({ record }) => trackOf(record.label, record.key) === track && record.key === key && record.firstSentAt !== undefined);
  }

  readonly #soon = (after: number | undefined = READ_AFTER_MS): void => {
    if (this.#over) return;
    this.#changed();
    this.#readIn(Math.max(after, this.#tookMs * READ_SHARE));
  };

  /** Schedules a read, unless an earlier one is scheduled. */
  #readIn(ms: number): void {
    const due = Date.now() + ms;
    if (this.#timer !== undefined && this.#due <= due) return;
    clearTimeout(this.#timer);
    this.#due = due;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#read();
    }, ms);
  }

  async #read(): Promise<void> {
    this.#stale = this.#reading;
    if (this.#reading || this.#over) return;
    this.#reading = true;
    this.#tap.take(this.client);
    const began = performance.now();
    try {
      const stored = await readStore(this.client);
      // If another user logged in during the read, drop the result and read again.
      if (stored.namespace === namespace(this.#once)) this.stored = stored;
      else this.#stale = true;
      this.trouble = undefined;
      this.#tookMs = performance.now() - began;
    } catch (error) {
      this.trouble = this.client.closing.aborted ? 'The client is closed; this was read before.' : `The store could not be read: ${String(error)}`;
    }
    this.#reading = false;
    if (this.#over) return;
    this.#changed();
    if (this.#stale) this.#soon();
    else if (this.#looked) this.#readIn(READ_AGAIN_MS);
  }
}
