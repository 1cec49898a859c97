/** Exchanges steps with the panels of other tabs and of workers, over the panels' own channel. */
import type { Namespace } from '../core/ids.js';
import { digestOfNamespace, namespaceNow } from '../engine/address.js';
import type { Client } from '../engine/client.js';
import { type Message, plainStep, readMessage, TOLD_MAX } from './message.js';
import { REALM, type Step } from './timeline.js';

/** The name of the channel. The number is that of the format, so that panels of different formats do not hear each other. */
const CHANNEL = 'oncefetch/devtools 1';

/** What the exchange needs from the panel. */
export interface Told {
  /** All known steps of this page. */
  own(): readonly Step[];
  /** Called with steps of the present user's operations that were made elsewhere. */
  hear(steps: readonly Step[]): void;
}

/** Opens the channel; `undefined` if the browser has none or refuses it to this page. */
function open(hear: (event: MessageEvent) => void): BroadcastChannel | undefined {
  try {
    const channel = new BroadcastChannel(CHANNEL);
    channel.onmessage = hear;
    // In Node, where tests may simulate a page, an open channel would keep the process alive.
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
    this.#hears('addEventListener');
  }

  /**
   * Closes the channel when the page is hidden, because an open one may keep it out of the back-forward cache, and when it is frozen, because the
   * messages of the others would queue up for it.
   */
  #hears(act: 'addEventListener' | 'removeEventListener'): void {
    globalThis[act]?.('pagehide', this.#close);
    globalThis[act]?.('pageshow', this.#open);
    globalThis.document?.[act]('freeze', this.#close);
    globalThis.document?.[act]('resume', this.#open);
  }

  /** Asks the other panels for their steps: at the beginning, and when the user has changed. */
  ask(): void {
    void this.#post({});
  }

  /** Sends steps of this page. Called again for a step of which more is known by then. */
  tell(steps: readonly Step[]): void {
    void this.#post({ steps });
  }

  end(): void {
    this.#close();
    this.#hears('removeEventListener');
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

  /** The present user and the store; `undefined` if nobody is logged in, or if no other context shares these records. */
  async #mine(): Promise<Pick<Message, 'scope' | 'ns'> | undefined> {
    const { store } = this.#client;
    const person = namespaceNow(this.#client);
    if (person === undefined || store.shared === 'context') return undefined;
    const ns = await digestOfNamespace(this.#client, person as Namespace);
    return namespaceNow(this.#client) === person ? { scope: store.scope, ns } : undefined;
  }

  async #post({ steps }: Pick<Message, 'steps'>): Promise<void> {
    // Copy the steps only after this wait, because more may be known of them by then.
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
