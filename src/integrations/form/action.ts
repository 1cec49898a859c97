/** Makes actions of forms that take effect once: for React's `useActionState`, and for server actions of Next.js and React Router. */
import { type Attempt, isOnceError, type Once, type OnceOptions, type OperationName, type Outcome, type RunOptions, run } from 'oncefetch';
import { fingerprintOf } from './fingerprint.js';

/** How the `effect` of an action ended. `value`: what it returned; `error`: what it threw, or an `OnceError`. */
export interface ActionEnd<T> {
  readonly outcome: Outcome;
  readonly value?: T | undefined;
  readonly error?: unknown;
}

/** What an action returns, and `useActionState` passes to the page. It is plain data if `tell` returns plain data. */
export interface ActionState<S> {
  readonly outcome: Outcome;
  /** What `tell` returned. */
  readonly said: S;
  /** The text of the fields that `keep` names, for `defaultValue`, because React empties a form after its action. */
  readonly fields: Readonly<Record<string, string>>;
}

/** Options of {@link formAction}. */
export interface FormActionOptions<T, S> {
  /** Names the operation, by what the server rendered into hidden fields: a cart's id, or a random id for each rendered form. */
  readonly operation: (form: FormData) => OperationName;
  /** Does the work, like a function given to `run`; use `attempt.key` for it. */
  readonly effect: (attempt: Attempt, form: FormData) => T | PromiseLike<T>;
  /** Returns what the page shows. Errors may contain more than a customer should read, so they are not passed on automatically. */
  readonly tell: (end: ActionEnd<T>, form: FormData) => S | PromiseLike<S>;
  /**
   * Fields whose text is given back to the page, such as `['name', 'street']`. Do not list passwords or card numbers: without script they
   * would be in the page's HTML. @default none
   */
  readonly keep?: readonly string[] | undefined;
  /** Fields that are not part of the payload, because they differ in each rendering, such as a CSRF token. @default none */
  readonly ignore?: readonly string[] | undefined;
  /** More options for `run`: `verdict`, `limits`, `repeat`, `meta`. */
  readonly call?: Omit<RunOptions<T>, 'fingerprint' | 'onOutcome'> | undefined;
}

/** The client, or a function that gives the client of the user who sent the form. Take the user from the session, never from a field. */
export type FormActionClient = Once | ((form: FormData) => Once | PromiseLike<Once>);

const FUNCTIONS = ['operation', 'effect', 'tell'] as const;
const KNOWN: readonly string[] = [...FUNCTIONS, 'keep', 'ignore', 'call'];

const wrong = (what: string, must: string, got: unknown): TypeError =>
  new TypeError(`once: ${what} must ${must}, got ${got === null ? 'null' : typeof got === 'string' ? JSON.stringify(got) : typeof got}`);

function check(once: FormActionClient, options: Readonly<Record<string, unknown>>): void {
  if (typeof once !== 'function' && typeof (once as Once | undefined)?.['~oncefetch'] !== 'function')
    throw wrong('the first argument of formAction', 'be a client, or a function that gives one', once);
  if (typeof options !== 'object' || options === null) throw wrong('the second argument of formAction', 'be an object', options);
  for (const name of Object.keys(options))
    if (!KNOWN.includes(name)) throw new TypeError(`once: formAction knows no option ${JSON.stringify(name)}; there are ${KNOWN.join(', ')}`);
  for (const name of FUNCTIONS) if (typeof options[name] !== 'function') throw wrong(`formAction's option ${name}`, 'be a function', options[name]);
  for (const name of ['keep', 'ignore'])
    if (options[name] !== undefined && !Array.isArray(options[name])) throw wrong(`formAction's option ${name}`, 'be a list of field names', options[name]);
  const { call = {} } = options;
  // The option `call` of `defineOnceForm` is a function. What such a function returns would be lost here, and a decline would count as a lost answer.
  if (typeof call !== 'object' || call === null) throw wrong("formAction's option call", 'be options of run', call);
  for (const name of ['fingerprint', 'onOutcome'])
    if ((call as Readonly<Record<string, unknown>>)[name]) throw new TypeError(`once: formAction's option call takes no ${name}`);
}

/** The form without the fields that React adds when it is sent without script. */
const countedOf = (form: FormData): FormData => {
  const counted = new FormData();
  for (const [name, value] of form) if (!name.startsWith('$ACTION_')) counted.append(name, value);
  return counted;
};

const keptOf = (form: FormData, names: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(names.flatMap((name) => ((value) => (typeof value === 'string' ? [[name, value]] : []))(form.get(name))));

/**
 * Makes an action for a form that takes effect once: a second click, a form that is sent again after a lost answer, and the same form
 * in another tab are one operation. On a server it works without script in the page; there, give it a client for each user, with a
 * store that outlives the request.
 *
 * @param once - the client, or a function that gives the client of the user who sent the form (from the session, never from a field)
 * @returns an action for `useActionState`; elsewhere, call it with `undefined` and the `FormData`. It rejects only if there is no
 * outcome: on a wrong name, or a mistake in `operation` or `tell`. Redirect after it, not in `effect`, because frameworks redirect by
 * throwing an error.
 * @throws TypeError on a wrong option
 * @example
 * const payOnce = formAction(async () => onceFor(await userHere()), {
 *   operation: (form) => ['pay', form.get('cart') as string],
 *   effect: ({ key }, form) => stripe.paymentIntents.create(paramsOf(form), { idempotencyKey: key }),
 *   tell: ({ outcome }) => (outcome.effect === 'done' ? 'Paid.' : outcome.effect === 'none' ? 'Not paid.' : 'Not sure yet. Pay again: you will not be charged twice.'),
 *   call: { verdict: stripeVerdict }, // without it, an error for a declined card would count as a lost answer
 * });
 * @see https://react.dev/reference/react/useActionState
 */
export function formAction<T, S>(
  once: FormActionClient,
  options: FormActionOptions<T, S>,
): (before: ActionState<S> | undefined, form: FormData) => Promise<ActionState<S>> {
  check(once, options as unknown as Readonly<Record<string, unknown>>);
  const { operation, effect, tell, keep = [], ignore = [], call } = options;
  return async (_before, form) => {
    if (!(form instanceof FormData)) throw wrong('the second argument of the action', 'be FormData', form);
    const client = typeof once === 'function' ? await once(form) : once;
    let outcome: Outcome | undefined;
    const more: RunOptions<T> = {
      ...call,
      fingerprint: () => fingerprintOf(countedOf(form), true, ignore),
      onOutcome: (told) => {
        outcome = told;
        // If the app's hook rejects, the caller of this function reports it.
        return (client['~oncefetch']() as { readonly settings: Pick<OnceOptions, 'onOutcome'> }).settings.onOutcome?.(told);
      },
    };
    let end: { readonly value: T } | { readonly error: unknown };
    try {
      end = { value: await run(client, operation(form), (attempt) => effect(attempt, form), more) };
    } catch (error) {
      // A call that is refused as busy rejects without a call of `onOutcome`.
      if (isOnceError(error)) outcome ??= error.outcome;
      if (!outcome) throw error;
      end = { error };
    }
    const told = outcome as Outcome;
    return { outcome: told, said: await tell({ outcome: told, ...end }, form), fields: keptOf(form, keep) };
  };
}
