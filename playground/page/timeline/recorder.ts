/** What happened, in order: kept over a reload of this tab, and heard by the other tabs. */
import type { LaneName } from '../shop.ts';

export interface Entry {
  readonly id: string;
  /** The tab in which it happened. */
  readonly tab: string;
  readonly lane: LaneName;
  readonly cart: string;
  readonly kind: 'attempt' | 'wait' | 'end' | 'note';
  /** Wall clock, ms. */
  readonly from: number;
  /** `null` while it goes on. */
  readonly to: number | null;
  readonly says: string;
  readonly tone: 'good' | 'bad' | 'unsure' | 'quiet';
  /** Of an attempt: the key that it bears, cut short. */
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

  /** Something that takes time, or an instant when `to` is its `from`. The id. */
  add(entry: Omit<Entry, 'id' | 'tab' | 'from' | 'to'>, instant = false): string {
    const from = Date.now();
    return this.#tell({ ...entry, id: crypto.randomUUID(), tab: this.tab, from, to: instant ? from : null });
  }

  end(id: string, said: Said): void {
    const entry = this.#entries.get(id);
    if (entry?.to === null) this.#tell({ ...entry, ...said, to: Date.now() });
  }

  /** This tab's entries of the lane that go on, the oldest first. */
  open(lane: LaneName, kind: Entry['kind']): readonly Entry[] {
    return this.entries.filter((entry) => entry.tab === this.tab && entry.lane === lane && entry.kind === kind && entry.to === null);
  }

  /** After a reload. */
  noteReload(cart: string): void {
    this.#cutOff();
    const mine = this.entries.filter((entry) => entry.tab === this.tab && entry.cart === cart);
    for (const lane of new Set(mine.map(({ lane }) => lane))) this.add({ lane, cart, kind: 'note', says: 'The page was reloaded', tone: 'quiet' }, true);
  }

  /** What goes on in this tab ends with its page, and no other tab would ever hear of its end. */
  #cutOff(): void {
    for (const { id, tab, to } of this.entries) if (tab === this.tab && to === null) this.end(id, { says: 'cut off, the page was left', tone: 'unsure' });
  }

  clear(): void {
    this.#entries.clear();
    this.#store();
    this.#notify(undefined);
  }

  /** Calls back with what is new; without anything when all is gone. */
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
