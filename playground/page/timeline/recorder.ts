/** What happened, in order. The list survives a reload of this tab, and every entry also goes to the other tabs. */
import type { LaneName } from '../shop.ts';

export interface Entry {
  readonly id: string;
  /** The tab in which it happened. */
  readonly tab: string;
  readonly lane: LaneName;
  readonly cart: string;
  readonly kind: 'attempt' | 'wait' | 'end' | 'note';
  /** Wall-clock time, ms. */
  readonly from: number;
  /** `null` while it lasts. */
  readonly to: number | null;
  readonly says: string;
  readonly tone: 'good' | 'bad' | 'unsure' | 'quiet';
  /** The shortened key of an attempt. */
  readonly key?: string | undefined;
}

type Said = Pick<Entry, 'says' | 'tone'>;

const KEPT_MAX = 200;
const STORED = 'playground.timeline';
const TAB = 'playground.tab';

class Recorder {
  readonly tab = sessionStorage.getItem(TAB) ?? crypto.randomUUID().slice(0, 6);
  readonly #entries = new Map<string, Entry>((JSON.parse(sessionStorage.getItem(STORED) ?? '[]') as Entry[]).map((entry) => [entry.id, entry]));
  readonly #channel = new BroadcastChannel('oncefetch-playground');
  readonly #listeners = new Set<(entry: Entry | undefined) => void>();

  constructor() {
    sessionStorage.setItem(TAB, this.tab);
    addEventListener('pagehide', () => this.#cutOff());
    this.#channel.onmessage = ({ data }: MessageEvent<Entry>) => this.#put(data);
  }

  get entries(): readonly Entry[] {
    return [...this.#entries.values()];
  }

  /** Adds an entry that lasts, or an instant whose `to` equals its `from`. Returns its id. */
  add(entry: Omit<Entry, 'id' | 'tab' | 'from' | 'to'>, instant = false): string {
    const from = Date.now();
    return this.#tell({ ...entry, id: crypto.randomUUID(), tab: this.tab, from, to: instant ? from : null });
  }

  end(id: string, said: Said): void {
    const entry = this.#entries.get(id);
    if (entry?.to === null) this.#tell({ ...entry, ...said, to: Date.now() });
  }

  /** The unfinished entries of this tab in the lane, oldest first. */
  open(lane: LaneName, kind: Entry['kind']): readonly Entry[] {
    return this.entries.filter((entry) => entry.tab === this.tab && entry.lane === lane && entry.kind === kind && entry.to === null);
  }

  /** Notes that the page was reloaded. */
  noteReload(cart: string): void {
    this.#cutOff();
    const mine = this.entries.filter((entry) => entry.tab === this.tab && entry.cart === cart);
    for (const lane of new Set(mine.map(({ lane }) => lane))) this.add({ lane, cart, kind: 'note', says: 'The page was reloaded', tone: 'quiet' }, true);
  }

  /** Ends the unfinished entries of this tab when its page is left, because nobody could report their end to the other tabs later. */
  #cutOff(): void {
    for (const { id, tab, to } of this.entries) if (tab === this.tab && to === null) this.end(id, { says: 'cut off, the page was left', tone: 'unsure' });
  }

  clear(): void {
    this.#entries.clear();
    this.#store();
    this.#notify(undefined);
  }

  /** Calls back with each new entry, and with `undefined` after all entries were cleared. */
  subscribe(listener: (entry: Entry | undefined) => void): void {
    this.#listeners.add(listener);
  }

  #tell(entry: Entry): string {
    this.#channel.postMessage(entry);
    this.#put(entry);
    return entry.id;
  }

  #put(entry: Entry): void {
    this.#entries.set(entry.id, entry);
    for (const oldest of this.#entries.keys()) if (this.#entries.size > KEPT_MAX) this.#entries.delete(oldest);
    this.#store();
    this.#notify(entry);
  }

  #notify(entry: Entry | undefined): void {
    for (const listener of this.#listeners) listener(entry);
  }

  #store(): void {
    sessionStorage.setItem(STORED, JSON.stringify(this.entries));
  }
}

export const recorder = new Recorder();
