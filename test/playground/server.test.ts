/**
 * Goal: the shop's server honours idempotency keys, and its faults do what their names say. Method: the real process over
 * real HTTP, and direct reads of its SQLite file. `kill.test.ts` kills the process from outside.
 */
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Shop, startShop } from '../../playground/start-shop.ts';

const CHARGE_MS = 120;
let shop: Shop;
beforeAll(async () => {
  shop = await startShop({ 'charge-ms': CHARGE_MS, public: fileURLToPath(new URL('../../playground/page', import.meta.url)) });
});
afterAll(() => shop.stop());
beforeEach(() => post('/api/reset'));

const post = (path: string, body: unknown = {}, headers: Record<string, string> = {}, signal?: AbortSignal) =>
  fetch(shop.url + path, { method: 'POST', body: JSON.stringify(body), headers, ...(signal && { signal }) });
const order = { cart: 'c1', amount: 4200, card: '4242424242424242' };
const pay = (key?: string, body: unknown = order, headers: Record<string, string> = {}) =>
  post('/api/payments', body, { ...(key !== undefined && { 'Idempotency-Key': key }), ...headers });
const charges = () => shop.query<{ key: string | null; cart: string; lane: string; amount: number }>('SELECT key, cart, lane, amount FROM charges');
const replayed = (response: Response) => response.headers.get('Idempotent-Replayed');

describe('a key', () => {
  test('charges once for 50 requests at once: one is executed, the others get a 409 or its answer', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => pay('k1')));
    const executed = answers.filter((answer) => answer.status === 201 && replayed(answer) === null);
    const told = answers.filter(({ status }) => status === 409);
    const late = answers.filter((answer) => answer.status === 201 && replayed(answer) === 'true');
    expect([executed.length, told.length + late.length]).toEqual([1, 49]);
    expect(charges()).toEqual([{ key: 'k1', cart: 'c1', lane: 'default', amount: 4200 }]);
    expect(told[0]?.headers.get('retry-after')).toBe('1');
    expect(await told[0]?.json()).toMatchObject({ title: 'A request is outstanding for this Idempotency-Key' });
  });

  test('sends the stored answer to a repetition, marked as a replay', async () => {
    const first = await pay('k1');
    const second = await pay('k1');
    expect([first.status, replayed(first), second.status, replayed(second)]).toEqual([201, null, 201, 'true']);
    expect(await second.json()).toEqual(await first.json());
    expect(charges()).toHaveLength(1);
  });

  test('with another payload gets a 422, and charges nothing more', async () => {
    await pay('k1');
    const other = await pay('k1', { ...order, amount: 9900 });
    expect([other.status, (await other.json()).title]).toEqual([422, 'Idempotency-Key is already used']);
    expect(charges()).toHaveLength(1);
  });

  test('keeps the refusal of a declined card; another key then charges', async () => {
    const declined = { ...order, card: '4000000000000002' };
    const first = await pay('k1', declined);
    const second = await pay('k1', declined);
    expect([first.status, second.status, replayed(second), (await second.json()).code]).toEqual([402, 402, 'true', 'card_declined']);
    expect(charges()).toEqual([]);
    expect((await pay('k2')).status).toBe(201);
    expect(charges()).toHaveLength(1);
  });

  test('stays usable after a body that is not an order', async () => {
    for (const body of ['nonsense', { ...order, amount: -1 }, { ...order, cart: '' }, { cart: 'c1', amount: 1 }])
      expect((await pay('k1', body)).status).toBe(400);
    expect((await pay('k1')).status).toBe(201);
  });

  test.each(['two words', 'k'.repeat(256), 'é'])('%j is refused with a 400', async (key) => {
    expect((await pay(key)).status).toBe(400);
    expect(charges()).toEqual([]);
  });

  test('that is missing: each request charges, as in the plain lane', async () => {
    await Promise.all([pay(), pay()]);
    expect(charges().map(({ key }) => key)).toEqual([null, null]);
  });
});

describe('a fault', () => {
  type Row = [fault: string, sees: number | 'cut' | 'broken' | 'silence', charged: number];
  test.each<Row>([
    ['lose-request', 'broken', 0],
    ['lose-response', 'broken', 1],
    ['truncate', 'cut', 1],
    ['hang', 'silence', 0],
    ['hang-after-commit', 'silence', 1],
    ['delay; ms=60', 201, 1],
    ['unavailable', 503, 0],
    ['unavailable-after-commit', 503, 1],
    ['unauthorized', 401, 0],
    ['duplicate', 409, 1],
    ['kill', 'broken', 0],
    ['kill-after-commit', 'broken', 1],
  ])('%s: the client sees %s, charges are %i; after the next attempt there is one', async (fault, sees, charged) => {
    const { boot } = await shop.health();
    const gaveUp = AbortSignal.timeout(sees === 'silence' ? CHARGE_MS + 2000 : 30_000);
    const headers = { 'Idempotency-Key': 'k1', 'x-fault': `${fault}; times=1` };
    const seen = await post('/api/payments', order, headers, gaveUp).then(
      (response) =>
        response.text().then(
          () => response.status,
          () => 'cut',
        ),
      () => (gaveUp.aborted ? 'silence' : 'broken'),
    );
    expect(seen).toBe(sees);
    if (fault.startsWith('kill')) await shop.restarted(boot);
    else expect((await shop.health()).boot).toBe(boot);
    expect(charges()).toHaveLength(charged);

    const next = await post('/api/payments', order, headers);
    expect([next.status, replayed(next)]).toEqual([201, charged ? 'true' : null]);
    expect(charges()).toHaveLength(1);
  });

  test('duplicate makes two charges of a request without a key', async () => {
    expect((await pay(undefined, order, { 'x-fault': 'duplicate' })).status).toBe(201);
    expect(charges()).toHaveLength(2);
  });

  test('armed for a lane meets only that lane, the given number of times, and survives the crash that it causes', async () => {
    await post('/api/faults', { lane: 'plain', fault: 'kill', times: 2 });
    for (let count = 0; count < 2; count++) {
      const { boot } = await shop.health();
      await expect(pay(`k${count}`, order, { 'x-lane': 'plain' })).rejects.toThrow();
      await shop.restarted(boot);
    }
    expect((await pay('k3', order, { 'x-lane': 'plain' })).status).toBe(201);
  });

  test('armed with a rate hits only some requests, and can be disarmed', async () => {
    await post('/api/faults', { lane: 'plain', fault: 'unavailable', rate: 0.5 });
    const statuses = await Promise.all(Array.from({ length: 40 }, (_, index) => pay(`k${index}`, order, { 'x-lane': 'plain' }).then(({ status }) => status)));
    expect(new Set(statuses)).toEqual(new Set([201, 503]));
    expect((await pay('other', order, { 'x-lane': 'once' })).status).toBe(201);
    const left = await fetch(`${shop.url}/api/faults?lane=plain`, { method: 'DELETE' });
    expect(((await left.json()) as { armed: unknown[] }).armed).toEqual([]);
  });

  test.each([{ lane: 'a', fault: 'nonsense' }, { lane: 'a', fault: 'kill', rate: 2 }, { lane: 'a', fault: 'kill', times: 0 }, { fault: 'kill' }])(
    'refuses a wrong setting: %j',
    async (body) => {
      expect((await post('/api/faults', body)).status).toBe(400);
    },
  );
});

describe("a form's first key that arrives from another device after its card was declined", () => {
  const [GOOD, BAD] = ['4242424242424242', '4000000000000002'];
  async function declined() {
    const cookie = (await fetch(`${shop.url}/once-form/`)).headers.get('set-cookie')?.split(';')[0] ?? '';
    const page = await (await fetch(`${shop.url}/once-form/`, { headers: { cookie } })).text();
    const [cart = '', key = ''] = ['cart', 'idempotency-key'].map((name) => new RegExp(`name="${name}" value="([^"]+)"`).exec(page)?.[1]);
    const send = async (under: string, card: string) => {
      const headers = { cookie, accept: 'application/json', 'idempotency-key': under };
      const answer = await fetch(`${shop.url}/once-form/`, { method: 'POST', headers, body: new URLSearchParams({ cart, bags: '2', card }) });
      return { status: answer.status, ...((await answer.json()) as { id?: number; amount?: number; 'idempotency-key': string }) };
    };
    const first = await send(key, BAD);
    expect(first.status).toBe(402);
    return { send, key, next: first['idempotency-key'] };
  }

  test.each([
    ['the same card', BAD],
    ['another card', GOOD],
  ])('with %s: if the form was paid meanwhile, the answer is this payment', async (_, card) => {
    const { send, key, next } = await declined();
    const { id } = await send(next, GOOD);
    expect(await send(key, card)).toMatchObject({ status: 200, id, amount: 4200 });
    expect((await send(next, BAD)).status).toBe(422);
  });

  test('with another card: the server refuses it and gives the next key, which then pays', async () => {
    const { send, key, next } = await declined();
    expect(await send(key, GOOD)).toMatchObject({ status: 402, 'idempotency-key': next });
    expect((await send(next, GOOD)).status).toBe(201);
  });
});
