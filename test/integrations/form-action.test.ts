/**
 * Goal: the server action of a form takes effect once and reports a true outcome. Method: SQLite on disk, as on a
 * server, and a new client for each request.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Attempt, type Once, pending } from 'oncefetch';
import { type ActionState, type FormActionOptions, formAction } from 'oncefetch/form';
import { createOnce } from 'oncefetch/node';
import { sqliteStore } from 'oncefetch/sqlite';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'form-action-'));
let database: DatabaseSync;
let charged: string[];
let user: string;

beforeEach(() => {
  database = new DatabaseSync(join(folder, `${crypto.randomUUID()}.db`));
  charged = [];
  user = 'ann';
});
afterEach(() => database.close());
afterAll(() => rmSync(folder, { recursive: true }));

/** A client for one request, as a server makes it. */
const onceHere = (): Once => createOnce({ namespace: user, store: sqliteStore({ database }), limits: { attempts: 1 } });

const formOf = (fields: Readonly<Record<string, string | File>>): FormData => {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
};
const CART = { cart: 'c-1', card: '4242', name: 'Ann' };

type Said = string;
const charge = ({ key }: Attempt, form: FormData): string => {
  charged.push(`${key} ${form.get('card')}`);
  return `receipt ${charged.length}`;
};
const actionWith = (more: Partial<FormActionOptions<unknown, Said>> = {}, once: Once | (() => Once) = onceHere) =>
  formAction<unknown, Said>(once, {
    operation: (form) => ['pay', String(form.get('cart'))],
    effect: charge,
    tell: ({ outcome, value, error }) => `${outcome.effect} ${value ?? (error as Error | undefined)?.name ?? ''}`,
    ...more,
  });

test('two submits at once and a third one later have one effect, and each gets the same receipt', async () => {
  const [one, two] = await Promise.all([actionWith()(undefined, formOf(CART)), actionWith()(undefined, formOf(CART))]);
  const three = await actionWith()(one, formOf(CART));
  expect([one, two, three].map(({ said }) => said)).toEqual(Array(3).fill('done receipt 1'));
  expect(charged).toHaveLength(1);
});

test('a second submit that is refused as busy gets this outcome, and does not reject', async () => {
  let charges: (value: string) => void = () => {};
  const charging = new Promise<string>((resolve) => void (charges = resolve));
  const action = actionWith({ effect: () => charging, call: { whenBusy: 'reject' } });
  const first = action(undefined, formOf(CART));
  expect(await action(undefined, formOf(CART))).toMatchObject({ said: 'unknown OnceError', outcome: { reason: 'busy' } });
  charges('receipt 1');
  expect((await first).said).toBe('done receipt 1');
});

test('the state that it returns is plain data, with the fields listed in keep', async () => {
  const state = await actionWith({ keep: ['name', 'nothing'] })(undefined, formOf(CART));
  expect(structuredClone(state)).toEqual(state);
  expect(state.fields).toEqual({ name: 'Ann' });
});

test('the next user gets no receipt of the user before: each submit uses the client of the user who sends it', async () => {
  await actionWith()(undefined, formOf(CART));
  user = 'bob';
  expect((await actionWith()(undefined, formOf(CART))).said).toBe('done receipt 2');
});

test('an effect that throws is unknown; the next submit runs it again with the same key', async () => {
  const keys: string[] = [];
  const dies = actionWith({
    effect: ({ key }) => {
      keys.push(key);
      throw new Error('the connection was cut');
    },
  });
  expect(await dies(undefined, formOf(CART))).toMatchObject({ outcome: { effect: 'unknown' }, said: 'unknown OnceError' });
  expect(await pending(onceHere())).toHaveLength(1);
  await actionWith()(undefined, formOf(CART));
  expect(charged).toEqual([`${keys[0]} 4242`]);
});

test('a refusal is reported as none, and the corrected form is charged', async () => {
  const refuses = actionWith({
    effect: (attempt, form) => (form.get('card') === '4000' ? Response.json({ title: 'Declined' }, { status: 402 }) : charge(attempt, form)),
    tell: async ({ outcome, value }) => `${outcome.effect} ${value instanceof Response ? (await value.json()).title : value}`,
  });
  expect((await refuses(undefined, formOf({ ...CART, card: '4000' }))).said).toBe('none Declined');
  expect((await refuses(undefined, formOf(CART))).said).toBe('done receipt 1');
});

describe('`changed` in the outcome of a submit after a lost answer', () => {
  const afterLoss = async (second: FormData, more: Partial<FormActionOptions<unknown, Said>> = {}) => {
    const dies = actionWith({ ...more, effect: () => Promise.reject(new Error('cut')), call: { verdict: () => 'ambiguous' } });
    await dies(undefined, formOf({ ...CART, token: 'a', $ACTION_KEY: 'k1', 'idempotency-key': 'r1' }));
    const { outcome } = await actionWith(more)(undefined, second);
    return 'changed' in outcome && outcome.changed;
  };

  test('is true for an edited field', async () => expect(await afterLoss(formOf({ ...CART, token: 'a', card: '5555' }))).toBe(true));

  test('is false for fields that React adds, for the rendered key, and for a field listed in ignore', async () => {
    expect(await afterLoss(formOf({ ...CART, token: 'b', $ACTION_KEY: 'k2', 'idempotency-key': 'r2' }), { ignore: ['token'] })).toBe(false);
  });

  test('is true for the values of one field in another order, and false for the fields in another order', async () => {
    const sorted = (...songs: readonly string[]): FormData => {
      const form = formOf({ cart: 'c-1' });
      for (const song of songs) form.append('song', song);
      return form;
    };
    const moved = formOf({});
    for (const [name, value] of [...sorted('b', 'a')].reverse()) moved.append(name, value);
    const dies = actionWith({ effect: () => Promise.reject(new Error('cut')), call: { verdict: () => 'ambiguous' } });
    await dies(undefined, sorted('a', 'b'));
    expect((await actionWith()(undefined, moved)).outcome).toMatchObject({ changed: false });
    const later = { ...CART, cart: 'c-2' };
    const list = (...songs: readonly string[]): FormData => {
      const form = formOf(later);
      for (const song of songs) form.append('song', song);
      return form;
    };
    await dies(undefined, list('a', 'b'));
    expect((await actionWith()(undefined, list('b', 'a'))).outcome).toMatchObject({ changed: true });
  });

  test('is true for a token that differs and is not in ignore', async () => expect(await afterLoss(formOf({ ...CART, token: 'b' }))).toBe(true));
});

test('two files with the same content are the same payload', async () => {
  const file = (text: string): FormData => formOf({ cart: 'c-1', receipt: new File([text], 'receipt.pdf', { type: 'application/pdf' }) });
  const dies = actionWith({ effect: () => Promise.reject(new Error('cut')) });
  await dies(undefined, file('a'));
  expect((await actionWith()(undefined, file('a'))).outcome).toMatchObject({ effect: 'done', changed: false });
});

test('the action rejects if it has no outcome: a wrong name, an error of tell, nobody logged in', async () => {
  await expect(actionWith({ operation: () => [] })(undefined, formOf(CART))).rejects.toThrow(TypeError);
  await expect(actionWith({ tell: () => Promise.reject(new Error('a bug')) })(undefined, formOf(CART))).rejects.toThrow('a bug');
  user = '';
  await expect(actionWith()(undefined, formOf(CART))).rejects.toThrow(TypeError);
  expect(charged).toHaveLength(1);
});

test('the action rejects unless the form is its second argument, as useActionState passes it', async () => {
  const action = actionWith() as unknown as (form: FormData) => Promise<ActionState<Said>>;
  await expect(action(formOf(CART))).rejects.toThrow('the second argument of the action must be FormData, got undefined');
});

test.each([
  ['no client', {}, {}, 'the first argument of formAction must be a client, or a function that gives one, got object'],
  ['no effect', onceHere, { effect: undefined }, "formAction's option effect must be a function, got undefined"],
  ['a text instead of a list', onceHere, { keep: 'name' }, `formAction's option keep must be a list of field names, got "name"`],
  [
    'onOutcome among the options of the call, which would never be called',
    onceHere,
    { call: { onOutcome: () => {} } },
    "formAction's option call takes no onOutcome",
  ],
  [
    'a function in place of the options of the call, whose verdict would be lost',
    onceHere,
    { call: () => ({ verdict: () => 'rejected' }) },
    "formAction's option call must be options of run, got function",
  ],
  ['an unknown option', onceHere, { retry: 3 }, 'formAction knows no option "retry"'],
])('formAction refuses at once: %s', (_, once, more, message) => expect(() => actionWith(more as object, once as unknown as Once)).toThrow(message));

test('onOutcome of the client is called, too', async () => {
  const told: string[] = [];
  const once = createOnce({ namespace: user, store: sqliteStore({ database }), onOutcome: ({ effect }) => void told.push(effect) });
  await actionWith({}, once)(undefined, formOf(CART));
  expect(told).toEqual(['done']);
});
