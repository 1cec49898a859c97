/** The panels of other tabs and of workers: hears their steps, and tells them the steps of this page, over a channel of the panels' own. */
import type { Namespace } from '../core/ids.js';
import { digestOfNamespace, namespaceNow } from '../engine/address.js';
import type { Client } from '../engine/client.js';
import { type Message, plainStep, readMessage, TOLD_MAX } from './message.js';
import { REALM, type Step } from './timeline.js';

/** The number is of the format: panels of two versions do not hear each other. */
export const CHANNEL = 'oncefetch/devtools 1';

/** What the panel does with what it hears. */
export interface Told {
  /** Every step of this page that is known. */
  own(): readonly Step[];
  /** Steps of the present user's operations, made elsewhere. */
  hear(steps: readonly Step[]): void;
}

/** Absent where the browser has none, or refuses it to this page. */
function open(hear: (event: MessageEvent) => void): BroadcastChannel | undefined {
  try {
    const channel = new BroadcastChannel(CHANNEL);
    channel.onmessage = hear;
    // In Node, where a page may be played, an open channel would keep the process.
    (channel as { unref?: () => void }).unref?.();
    return channel;
  } catch {
    return undefined;
  }
}

export class Others {
  readonly #client: Client;
  readonly #told: Told;
  #channel: BroadcastChannel | undefined;

  constructor(client: Client, told: Told) {
    this.#client = client;
    this.#told = told;
    this.#open();
    // An open channel may keep a page out of the back-forward cache.
    globalThis.addEventListener?.('pagehide', this.#close);
    globalThis.addEventListener?.('pageshow', this.#open);
  }

  /** Asks for what the others have seen. For the beginning, and when another user is here. */
  ask(): void {
    void this.#post({});
  }

  /** Tells steps of this page, anew where more is known of them. */
  tell(steps: readonly Step[]): void {
    void this.#post({ steps });
  }

  end(): void {
    this.#close();
    globalThis.removeEventListener?.('pagehide', this.#close);
    globalThis.removeEventListener?.('pageshow', this.#open);
  }

  readonly #open = (): void => {
    if (this.#channel) return;
    this.#channel = open(({ data }) => void this.#hear(data));
    this.ask();
  };

  readonly #close = (): void => {
    this.#channel?.close();
    this.#channel = undefined;
  };

  /** Of whom this page speaks now; nothing where nobody is logged in, and where no other tab has these records. */
  async #mine(): Promise<Pick<Message, 'scope' | 'ns'> | undefined> {
    const { store } = this.#client;
    const person = namespaceNow(this.#client);
    if (person === undefined || store.shared === 'context') return undefined;
    const ns = await digestOfNamespace(this.#client, person as Namespace);
    return namespaceNow(this.#client) === person ? { scope: store.scope, ns } : undefined;
  }

  async #post({ steps }: Pick<Message, 'steps'>): Promise<void> {
    // Copied when it is sent: by then more may be known.
    const mine = await this.#mine().catch(() => undefined);
    if (!mine) return;
    const plain = steps?.slice(-TOLD_MAX).flatMap((step) => plainStep(step) ?? []);
    this.#channel?.postMessage({ ...mine, realm: REALM, worker: globalThis.document === undefined, steps: plain } satisfies Message);
  }

  async #hear(data: unknown): Promise<void> {
    const message = readMessage(data, REALM);
    const mine = message && (await this.#mine().catch(() => undefined));
    if (!mine || mine.scope !== message.scope || mine.ns !== message.ns || !this.#channel) return;
    if (message.steps) this.#told.hear(message.steps);
    else this.tell(this.#told.own());
  }
}
