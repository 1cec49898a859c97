/** What logs hear: what happens to calls. Types only; `log.ts` has the functions. */
import type { Answer, Dialect } from '../core/dialect.js';
import type { OnceEvent, OnceEventDetail } from '../core/event.js';
import type { Label, Namespace } from '../core/ids.js';
import type { OperationName } from '../core/name.js';
import type { Result } from './result.js';

export interface Listener {
  readonly hears: (event: OnceEvent) => void;
  readonly begins: ((label: Label) => boolean) | undefined;
}

/** An operation, with its user if that is known. */
export interface Named {
  readonly name: OperationName;
  readonly label: Label;
  readonly namespace?: Namespace;
}

/** What the engine reports of a call; `log.ts` turns it into events. */
export type Happened =
  | Exclude<OnceEventDetail, { readonly type: 'diagnostic' | 'wait' | 'settled' | 'unknown' }>
  /** `result`: that of the last attempt. */
  | (Extract<OnceEventDetail, { readonly type: 'wait' | 'settled' | 'unknown' }> & { readonly result?: Result | undefined })
  /** `where`: the server or page that the diagnostic is about; listeners hear it once for each. `cause`: the error that the store rejected with. */
  | { readonly type: 'diagnostic'; readonly code: string; readonly where?: string | undefined; readonly cause?: unknown }
  | { readonly type: 'answered'; readonly origin: string; readonly answer: Answer; readonly ambiguous: boolean; readonly dialect: Dialect }
  | { readonly type: 'silence'; readonly origin: string; readonly number: number };

/** Empty until somebody listens: `log.ts` fills it. */
export interface Log<Client> {
  tell?: (call: Named & { readonly client: Client }, key: string, happened: Happened) => void;
  /** The address of the call that an event is about. Internal to this package. */
  callOf?: WeakMap<OnceEvent, object>;
}

/** What the logs of one realm have in common. */
export interface LogTables {
  /** The diagnostics that listeners have heard already, each with its place. */
  readonly noticed: Map<string, true>;
}
