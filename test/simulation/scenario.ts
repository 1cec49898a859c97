/** A scenario: a workload and the faults it meets, in the shape of FoundationDB's tests. */
import type { OnceOptions } from '../../src/option-types.js';
import type { ContextKind } from './context.js';
import type { DeviceOptions } from './device.js';
import type { OpFacts } from './facts.js';
import type { ServerOptions } from './families.js';
import type { FaultRates } from './faults.js';
import type { Fate } from './network.js';
import type { Action, Workload } from './plan.js';
import type { Random } from './random.js';
import type { Endpoint } from './requests.js';

/** What a client is set up with as it is. */
export const OWN_OPTIONS = ['limits', 'whenChanged', 'whenBusy', 'durability', 'keep', 'retry', 'dialect', 'accepted', 'repeat'] as const;

export interface ClientOptions extends Pick<OnceOptions, (typeof OWN_OPTIONS)[number]> {
  /** Not random: given by the app. */
  readonly keys?: 'random' | 'derived' | 'literal' | undefined;
  /** The app can ask its server what became of an operation; by key, it asks only the server that knows that key. */
  readonly reconciles?: boolean | 'by-key' | undefined;
  /** It signs every attempt in a `headers` hook. */
  readonly hooks?: boolean | undefined;
  /** … and in a hook `around` it, which may fail when the answer is there. */
  readonly around?: boolean | undefined;
  readonly followsRedirects?: boolean | undefined;
  /**
   * It uses a provider's SDK in `run`, not `fetch`, and gives what can be stored, the answer itself, or what can be stored nowhere.
   * `children`: it makes two calls, under keys made of its own.
   */
  readonly runs?: 'value' | 'response' | 'function' | 'children' | undefined;
  /** … and presses another button in the middle. */
  readonly nests?: boolean | undefined;
  /** Its calls have no names. */
  readonly unnamed?: boolean | undefined;
  /** Its calls are named by what they send: `once: true`. */
  readonly byContent?: boolean | undefined;
  /** Where its button leads: the first payload to the first of these, an edited one to the next. @default one endpoint */
  readonly endpoints?: readonly Endpoint[] | undefined;
  /** Every other call goes through a client that was extended with these. */
  readonly other?: Partial<OnceOptions> | undefined;
  /** It reads the answers of its server in a `verdict` hook. */
  readonly reads?: boolean | undefined;
  /** Its bodies bear the time, and its `fingerprint` picks what counts. */
  readonly picks?: boolean | undefined;
  /** What bodies are. @default text */
  readonly bodies?: 'bytes' | 'stream' | undefined;
  /** Every other press comes with a consent for so long, ms; and whoever goes through all that is pending is a worker without a page. */
  readonly consentMs?: number | undefined;
}

export interface WorldOptions {
  /** The scenarios that it is made of, if there are several. */
  readonly madeOf?: readonly string[] | undefined;
  /** Which contexts there are: each entry a device with its slots. */
  readonly devices: readonly (DeviceOptions & { readonly slots: readonly ContextKind[] })[];
  /** All devices reach one store: a database of many machines. */
  readonly sharedStore?: boolean | undefined;
  /** Pages show the state of each operation. */
  readonly screens?: boolean | undefined;
  /** Everybody begins as a guest; whoever logs in takes along what is open. */
  readonly guests?: boolean | undefined;
  readonly server: ServerOptions;
  readonly client: ClientOptions;
  /** What a later release of the app is set up with: every restart brings it. */
  readonly laterClient?: ClientOptions | undefined;
  readonly faults: FaultRates;
  readonly workload: Workload;
  /** Instead of a drawn one. */
  readonly plan?: readonly Action[] | undefined;
  /** The fate of an operation's n-th send (from 0), where it is not left to chance. */
  readonly script?: ((op: OpFacts, n: number) => Fate | undefined) | undefined;
}

export interface Scenario {
  readonly name: string;
  /** What it is about, in one sentence. */
  readonly says: string;
  readonly options: (random: Random, seed: number) => WorldOptions;
}
