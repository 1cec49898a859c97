/**
 * Goal: an earlier form that is sent again from the store goes out with nothing that the press's headers say of the press's own bytes, also while another
 * tab presses, so that it never seems to be refused, and nobody pays twice. Method: two tabs press an edited, packed form of a payment whose answer was
 * lost, the second one at each crossing of the first, with locks and without.
 */
import { expect } from 'vitest';
import { answers, charged, delayed, lost, replays } from '../support/server.js';
import { CART, MINUTE, NAME, ONE, pay, SECOND, test, type World } from '../support/world.js';

const OPTIONS = { namespace: 'ann', keep: { request: true } } as const;
const OTHER = { cart: 'c1', amount: 20 };
const PACKED = { headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' } };
const MISMATCH = answers(422, { title: 'Idempotency-Key was used with a different payload' });

/** A server that compares payloads, unpacks what is said to be packed, and repeats the key in its refusal: that counts as the application's own. */
function comparing({ server }: World): void {
  server.otherwise = delayed(SECOND, (arrival, of) => {
    if (!of.charged.has(arrival.key)) return charged(answers(201))(arrival, of);
    if (arrival.body !== JSON.stringify(CART)) return MISMATCH(arrival, of);
    if (!arrival.headers.has('content-encoding')) return replays()(arrival, of);
    return answers(400, { title: 'incorrect header check' }, { 'idempotency-key': `${arrival.key}` })(arrival, of);
  });
}

test.for([true, false].flatMap((locks) => Array.from({ length: 12 }, (_, at) => [locks, at + 1] as const)))(
  'two tabs press the edited form (locks: %o, the second one at crossing %i): one charge, and no untrue word',
  async ([locks, at], { world }) => {
    const first = world.open(OPTIONS, { locks });
    const { outcome } = await world.end(first.tab, pay(first.once, ONE), charged(lost()));
    first.tab.kill();
    comparing(world);
    const [one, two] = [world.open(OPTIONS, { locks }), world.open(OPTIONS, { locks })];
    const press = (page: typeof one) => pay(page.once, { body: OTHER, init: PACKED, operation: NAME });
    let other: Promise<unknown> | undefined;
    one.tab.at(at, () => {
      other = world.end(two.tab, press(two)).then((end) => expect(end.outcome?.effect).not.toBe('none'));
    });
    expect((await world.end(one.tab, press(one))).outcome?.effect).not.toBe('none');
    await world.run(Promise.resolve(other));
    await world.clock.advance(10 * MINUTE);
    for (const page of [one, two]) expect((await world.end(page.tab, press(page))).outcome).toMatchObject({ effect: 'done', key: outcome?.key });
    expect([...world.server.charged]).toEqual([outcome?.key]);
    for (const { body, headers } of world.server.arrivals) if (body === JSON.stringify(CART)) expect(headers.has('content-encoding')).toBe(false);
  },
);
