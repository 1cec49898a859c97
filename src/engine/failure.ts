/** How a call ends that made no attempts: its outcome, and the error for it. */
import type { OnceErrorCode, UnknownReason } from '../core/codes.js';
import { type Ending, type Facts, type Outcome, unknown } from '../core/outcome.js';
import type { OnceRecord } from '../core/record.js';
import { OnceError } from '../errors.js';
import type { OperationRun } from './client.js';
import type { Ended } from './in-flight.js';
import { nameOrNone } from './observe.js';
import { storedIn, storeForOperation } from './record-access.js';

/** Error codes of the reasons that have one of their own. */
export const CODES: Readonly<Partial<Record<UnknownReason, OnceErrorCode>>> = {
  busy: 'ERR_ONCE_BUSY',
  'key-expired': 'ERR_ONCE_KEY_EXPIRED',
  mismatch: 'ERR_ONCE_MISMATCH',
  elsewhere: 'ERR_ONCE_MISMATCH',
  bytes: 'ERR_ONCE_MISMATCH',
  store: 'ERR_ONCE_STORE',
};

/** The code of an ending whose reason has none of its own. */
export const plainCodeOf = ({ effect }: Ending): OnceErrorCode => (effect === 'none' ? 'ERR_ONCE_UNSENT' : 'ERR_ONCE_UNKNOWN');

export const codeOf = (ending: Ending): OnceErrorCode => (ending.type === 'unknown' && CODES[ending.reason]) || plainCodeOf(ending);

/** How an operation ended, with what is known of it. */
type Known = Partial<Facts> & Ending;

type Addressed = Pick<OperationRun, 'client' | 'name' | 'operationKey'>;

/** An outcome, or what is `known` of it, with all facts. Those that are not known are as for a call that made no attempts. */
export const withFacts = <T extends Partial<Outcome>>(operation: Addressed, known: T): Facts & T => ({
  operation: nameOrNone(operation.name),
  key: undefined,
  attempts: 0,
  firstSentAt: undefined,
  sent: known.type === 'unsent' ? 'no' : 'maybe',
  resumed: false,
  joined: false,
  storedIn: storedIn(storeForOperation(operation)),
  ...known,
});

/** What the outcome of a record says that ended in another context or earlier. */
export const endOf = ({ key, firstSentAt }: OnceRecord, ending: Ending, resumed: boolean): Known => ({
  key,
  firstSentAt,
  sent: firstSentAt === undefined ? 'no' : 'yes',
  resumed,
  ...ending,
});

export const failure = (
  operation: Addressed,
  known: Known,
  more?: ConstructorParameters<typeof OnceError>[2],
  code: OnceErrorCode = codeOf(known),
): OnceError => new OnceError(code, withFacts(operation, known), more);

export const storeError = (operation: Addressed, cause: unknown): OnceError => failure(operation, unknown('store'), { cause });

export const busyError = (operation: Addressed): OnceError => failure(operation, unknown('busy'));

/** The same for an outcome that several callers may share: `fail` makes an error for each of them. */
export const failed = (operation: Addressed, known: Known, code = codeOf(known), says?: string): Ended => ({
  outcome: withFacts(operation, known),
  fail: (own) => new OnceError(code, own, { says }),
});

/** Turns a rejection of the store into the call's error. */
export const orStoreError = <T>(job: OperationRun, work: Promise<T>): Promise<T> => work.catch((cause: unknown) => Promise.reject(storeError(job, cause)));
