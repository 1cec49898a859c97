/** A scenario: a workload and the faults that it meets, in the shape of FoundationDB's tests. */
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

/** Client options that are passed on as they are. */
export const OWN_OPTIONS = ['limits', 'whenChanged', 'whenBusy', 'durability', 'keep', 'retry', 'dialect', 'accepted', 'repeat'] as const;

export interface ClientOptions extends Pick<OnceOptions, (typeof OWN_OPTIONS)[number]> {
  /** How keys are made: at random by the client, or derived or given by the app. */
  readonly keys?: 'random' | 'derived' | 'literal' | undefined;
  /** The app can ask its server what became of an operation; by key, it asks only the server that knows that key. */
  readonly reconciles?: boolean | 'by-key' | undefined;
  /** The app signs every attempt in a `headers` hook. */
  readonly hooks?: boolean | undefined;
  /** The app also has a hook `around` each attempt, which may fail when the answer is there. */
  readonly around?: boolean | undefined;
  readonly followsRedirects?: boolean | undefined;
  /**
   * The app uses a provider's SDK in `run`, not `fetch`. The result is a value that can be stored, the response itself, or a function,
   * which can be stored nowhere. `children`: the function makes two requests, under child keys. `calls`: it makes two calls of the client, under
   * names of their own.
   */
  readonly runs?: 'value' | 'response' | 'function' | 'children' | 'calls' | undefined;
  /** With `calls`: a charge of which the client says that it had no effect refuses the run for good, whoever has run the function before. */
  readonly sure?: boolean | undefined;
  /** With `calls`: they have child keys. */
  readonly childKeys?: boolean | undefined;
  /** The function of the `run` makes another named call in the middle. */
  readonly nests?: boolean | undefined;
  /** With `runs`: every other payload goes out by `fetch`, under the same name. */
  readonly mixes?: boolean | undefined;
  /** The calls have no names. */
  readonly unnamed?: boolean | undefined;
  /** The calls are named by their content: `once: true`. */
  readonly byContent?: boolean | undefined;
  /** The endpoints of the button: the first payload goes to the first one, an edited payload to the next. @default one endpoint */
  readonly endpoints?: readonly Endpoint[] | undefined;
  /** About every other call goes through a second client, which is extended with these options. */
  readonly other?: Partial<OnceOptions> | undefined;
  /** With `other`: the second client is not extended from the first one, but made by itself, with features of its own. What is done by hand goes through either. */
  readonly apart?: boolean | undefined;
  /** The app reads answers of its server in a `verdict` hook. */
  readonly reads?: boolean | undefined;
  /** The bodies differ from press to press, and the app's `fingerprint` picks the part that counts. */
  readonly picks?: boolean | undefined;
  /** The type of the bodies. @default text */
  readonly bodies?: 'bytes' | 'stream' | undefined;
  /** About every other press has a consent for this long, ms; and `resume` of everything is that of a worker without a page. */
  readonly consentMs?: number | undefined;
}

export interface WorldOptions {
  /** The scenarios that were combined, if there are several. */
  readonly madeOf?: readonly string[] | undefined;
  /** The contexts of the world: each entry is a device with its slots. */
  readonly devices: readonly (DeviceOptions & { readonly slots: readonly ContextKind[] })[];
  /** All devices share one store: a database of many machines. */
  readonly sharedStore?: boolean | undefined;
  /** Pages show the state of each operation. */
  readonly screens?: boolean | undefined;
  /** Each user begins as a guest. A log-in moves the guest's unsettled operations. */
  readonly guests?: boolean | undefined;
  /** Each page has a session of its own. A log-in or log-out in one page reaches the others up to this much later, ms. */
  readonly logInLagMs?: number | undefined;
  readonly server: ServerOptions;
  readonly client: ClientOptions;
  /** The client options of the next release of the app, which every restart brings. */
  readonly laterClient?: ClientOptions | undefined;
  readonly faults: FaultRates;
  readonly workload: Workload;
  /** The plan to play in place of a drawn one. */
  readonly plan?: readonly Action[] | undefined;
  /** The fate of the n-th request (from 0) of an operation, if it is not left to chance. */
  readonly script?: ((op: OpFacts, n: number) => Fate | undefined) | undefined;
}

export interface Scenario {
  readonly name: string;
  /** What the scenario is about, in one sentence. */
  readonly says: string;
  readonly options: (random: Random, seed: number) => WorldOptions;
}
