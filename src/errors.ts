/** The error class of this package, with a literal code for each kind. */
import type { OnceErrorCode } from './core/codes.js';
import type { OperationName } from './core/name.js';
import type { Outcome } from './core/outcome.js';
import { errorText } from './texts/full.js';

const BRAND = Symbol.for('oncefetch.error');

/** An operation's name for messages, cut to a sensible length. */
export const printName = (name: OperationName | undefined): string =>
  name?.length ? JSON.stringify(name, (_, part: unknown) => (typeof part === 'bigint' ? String(part) : part)).slice(0, 100) : 'unnamed operation';

/**
 * The error that calls reject with, except where `fetch` itself would reject: a code, the outcome, the original cause, and a message that
 * says what to do next.
 */
export class OnceError<C extends OnceErrorCode = OnceErrorCode> extends Error {
  readonly code: C;
  readonly outcome: Outcome;
  /** The last HTTP answer, if there was one. */
  declare readonly response: Response | undefined;
  /** The server's id of the thing that exists already, if it gave one. */
  declare readonly resource: string | undefined;

  constructor(
    code: C,
    outcome: Outcome,
    more: { cause?: unknown; response?: Response | undefined; resource?: string | undefined; says?: string | undefined } = {},
  ) {
    super(
      `once: ${printName(outcome.operation)}: ${errorText(code, outcome, more.says, more.cause)}`,
      more.cause === undefined ? undefined : { cause: more.cause },
    );
    this.code = code;
    this.outcome = outcome;
    // Not enumerable, so that loggers that print an error's own fields do not print a body. An assignment to the name would throw where a page
    // has frozen `Error.prototype`.
    Object.defineProperties(this, {
      name: { value: 'OnceError', writable: true },
      response: { value: more.response },
      resource: { value: more.resource },
      [BRAND]: { value: true },
    });
  }

  /** For logs. Contains no body and no credential. */
  toJSON(): { name: string; code: C; message: string; outcome: Outcome } {
    const { name, code, message, outcome } = this;
    return { name, code, message, outcome };
  }
}

/**
 * Whether `error` is a `OnceError`, with this code if one is given. Works across copies of the package and across realms.
 *
 * @example
 * if (isOnceError(error, 'ERR_ONCE_BUSY')) return;
 */
export function isOnceError<C extends OnceErrorCode = OnceErrorCode>(error: unknown, code?: C): error is OnceError<C> {
  try {
    const given = error as OnceError & { readonly [BRAND]?: unknown };
    return given[BRAND] === true && (code ?? given.code) === given.code;
  } catch {
    // There is nothing to read in `null`, nor in a Proxy that was revoked.
    return false;
  }
}
