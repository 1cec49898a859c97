/** The client options of a world's app: hooks, keys, and a `reconcile` that asks the app's own server. */
import type { Dialect } from '../../src/core/dialect.js';
import { GENERIC } from '../../src/dialects/generic.js';
import { type Around, around } from '../../src/features/around.js';
import type { OnceOptions, OperationOptions } from '../../src/option-types.js';
import { LATE_MS_MAX } from './checkers/claims.js';
import type { Context } from './context.js';
import type { OpFacts } from './facts.js';
import type { ServerOptions } from './families.js';
import type { Random } from './random.js';
import type { Endpoint } from './requests.js';
import { type ClientOptions, OWN_OPTIONS } from './scenario.js';
import { personOf, type World } from './world.js';

export const ATTEMPT_MS = 30_000;
/** The reads and writes between two attempts, each of which may take the store's whole time limit. */
const STORE_MS = 40_000;

type Said = { readonly state?: unknown; readonly status?: unknown } | undefined;

/** The dialect for a server: a random part of what is true of it, and never more. */
export function dialectFor({ marker, mismatch, honours, accepts, anyAccount, failedWord, done }: ServerOptions, random: Random): OnceOptions['dialect'] {
  const knows = honours && random.chance(0.5);
  return {
    ...GENERIC,
    replays: knows && marker && !accepts && done === undefined,
    perAccount: anyAccount === false,
    answersMismatch: knows ? mismatch !== 'replays' : undefined,
    ...(accepts &&
      failedWord === undefined && {
        polled: ({ json }) => ([(json as Said)?.state, (json as Said)?.status].includes('failed') ? ('failed' as const) : undefined),
      }),
  };
}

/** The dialect that this release of an app uses at this endpoint. */
export function speaks({ dialect }: ClientOptions, { url, method }: Endpoint): Dialect | undefined {
  const said = typeof dialect === 'function' ? dialect({ url, method }) : dialect;
  return said === 'none' ? undefined : said;
}

/** Answers a hook: at once, or after the client call that the hook itself began has ended. */
function after(waits: Promise<unknown> | undefined, answer: () => void): void {
  if (waits) void waits.then(answer, answer);
  else answer();
}

/** The longest pause before the next attempt, plus the most time that stores and ports take in between. */
const GOES_ON_MS = 15_000 + 20_000;

/**
 * Notes that a hook was asked. A hook that never answers (`hangs`) must not hold its call up for longer than an attempt may take: by then
 * the call has ended, or asked a hook again.
 */
function asks(world: World, context: Context, op: OpFacts | undefined, hangs: boolean): void {
  if (!op) return;
  const asked = (context.asked.get(op) ?? 0) + 1;
  context.asked.set(op, asked);
  if (!hangs) return;
  const { client, other } = context;
  const open = op.calls.filter(({ context: of, verb, told, dead }) => of === context.id && verb !== 'resume' && !told && !dead);
  const since = world.time.now;
  const attemptMs = Math.max(...open.map((call) => call.attemptMs), other ? ATTEMPT_MS : (client.limits?.attemptMs ?? ATTEMPT_MS));
  world.time.after(attemptMs + GOES_ON_MS + (world.options.faults.storeHangs ? STORE_MS : 0), () => {
    const disturbed = context.dead || context.closed || context.frozen || context.thawedAt >= since;
    if (disturbed || !open.length || context.asked.get(op) !== asked || open.some(({ told }) => told)) return;
    world.books.violate('settles-when-calm', op, `a hook that hangs has held up call ${open[0]?.id} for ${world.time.now - since} ms`);
  });
}

/**
 * The app asks its own server, which tells the truth to the user whose order it is. In the session of another user there is no such order.
 * The answer is a word or a `Response`; of a `Response` only a 2xx is evidence.
 */
export const reconcileIn =
  (world: World, context: Context): NonNullable<OnceOptions['reconcile']> =>
  ({ key }) =>
    context.port('reconcile', (resolve, reject) => {
      const { faults } = world;
      const random = faults.occasion(`${context.slot} reconcile`);
      const waits = context.callBack(random.of('back'), world.books.keys.get(key)?.op);
      if (faults.hits(random, 'reconcileThrows')) return reject(new Error('simulated: the status page is down'));
      const hangs = faults.hits(random, 'reconcileHangs');
      asks(world, context, world.books.keys.get(key)?.op, hangs);
      if (hangs) return;
      const facts = world.books.keys.get(key);
      const mine = facts !== undefined && personOf(context.user) === facts.op.user;
      const byKey = context.client.reconciles === 'by-key';
      const truth = facts === undefined ? 'unknown' : mine ? world.truth(facts.op, { but: context.id, key: facts, byKey }) : 'none';
      const refused = faults.hits(random, 'reconcileRefused');
      if (truth === 'done' && !refused) facts?.saidDoneTo.add(context.id);
      const responds = faults.hits(random, 'reconcileResponds');
      const status = refused ? random.pick([401, 503]) : truth === 'done' ? 200 : 404;
      const said = refused || responds ? new Response(JSON.stringify({ status }), { status }) : truth;
      world.log(() => `  ${context.id} hears of ${key.slice(0, 8)}: ${typeof said === 'string' ? said : status}${mine ? '' : ', in another session'}`);
      if (faults.hits(random, 'reconcileDelays')) context.later(random.int(100, 25_000), () => resolve(said));
      else after(waits, () => resolve(said));
    });

/** The app's `verdict` hook: it reads some answers of its server, and leaves most to the client. */
const verdictIn =
  (world: World, context: Context): NonNullable<OnceOptions['verdict']> =>
  ({ status, headers, json }) => {
    const { faults } = world;
    const random = faults.occasion(`${context.slot} verdict`);
    context.callBack(random.of('back'));
    if (faults.hits(random, 'verdictThrows')) throw new Error('simulated: no such field');
    if (random.chance(0.3)) return undefined;
    const marked = headers.has('idempotent-replayed');
    if (status === 201 && json !== undefined) return marked ? 'replayed' : 'fresh';
    return status === 402 ? (marked ? 'rejected-for-good' : 'rejected') : undefined;
  };

const hookIn =
  (world: World, context: Context): NonNullable<OnceOptions['headers']> =>
  ({ attempt, headers }) =>
    context.port('hook', (resolve, reject) => {
      const { faults } = world;
      const random = faults.occasion(`${context.slot} hook`);
      const op = world.calls.get(headers.get('x-call') ?? '')?.op;
      const waits = context.callBack(random.of('back'), op);
      const hangs = faults.hits(random, 'hookHangs');
      asks(world, context, op, hangs);
      if (faults.hits(random, 'hookThrows')) return reject(new Error('simulated: no token'));
      if (hangs) return;
      const askedAt = world.time.now;
      const tell = (): void => {
        context.hook = { askedAt, answeredAt: world.time.now };
        resolve({ authorization: `attempt-${attempt}` });
      };
      // Sometimes the delay is longer than an attempt may take.
      if (faults.hits(random, 'hookDelays')) context.later(random.int(10, 20_000) * (random.chance(0.1) ? 4 : 1), tell);
      else after(waits, tell);
    });

/** Like {@link hookIn}, but around the attempt. It asks before and after the attempt, so it may also throw, or hang, when the answer is there. */
function aroundIn(world: World, context: Context): Around {
  const before = hookIn(world, context);
  return async (attempt, send) => {
    const { askedAt, answeredAt } = context.hook;
    const more = await before(attempt);
    // The client does not read the record between two hooks that answer quickly.
    if (context.hook.askedAt - answeredAt < LATE_MS_MAX) context.hook = { ...context.hook, askedAt };
    const response = await send(world.faults.occasion(`${context.slot} around`).chance(0.5) ? more : undefined);
    await before(attempt);
    return response;
  };
}

export function clientOptions(world: World, context: Context, client = context.client): OnceOptions {
  const own = OWN_OPTIONS.flatMap((name) => (client[name] === undefined ? [] : [[name, client[name]] as const]));
  return {
    ...Object.fromEntries(own),
    namespace: () => context.user,
    ...(client.reconciles ? { reconcile: reconcileIn(world, context) } : {}),
    ...(client.hooks ? { headers: hookIn(world, context) } : {}),
    ...(client.around ? { use: [around(aroundIn(world, context))] } : {}),
    ...(client.picks ? { fingerprint: ({ body }) => ({ ...(body as object), stamp: undefined }) } : {}),
    ...(client.reads ? { verdict: verdictIn(world, context) } : {}),
  };
}

/**
 * A key that is not random: the caller's own, or one that is derived from the order number and the generation, so that another card after a
 * refusal gets another key.
 */
export function keyFor(world: World, context: Context, op: OpFacts): OperationOptions['key'] {
  const { keys } = context.client;
  if (keys === 'literal') return `order-${op.user}-${op.name[1]}`;
  if (keys !== 'derived') return undefined;
  const derived = (generation: number): string => `order-${op.user}-${op.name[1]}-${generation}`;
  const { keyDelays, keyThrows, keyHangs } = world.options.faults;
  if (!keyDelays && !keyThrows && !keyHangs) return ({ generation }) => derived(generation);
  return ({ generation }) =>
    context.port('key', (resolve, reject) => {
      const { faults } = world;
      const random = faults.occasion(`${context.slot} key`);
      const waits = context.callBack(random.of('back'), op);
      const hangs = faults.hits(random, 'keyHangs');
      asks(world, context, op, hangs);
      if (faults.hits(random, 'keyThrows')) return reject(new Error('simulated: no key'));
      if (hangs) return;
      if (faults.hits(random, 'keyDelays')) context.later(random.int(10, 20_000), () => resolve(derived(generation)));
      else after(waits, () => resolve(derived(generation)));
    });
}
