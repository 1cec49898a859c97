/**
 * Goal: no caller is told that a payout was made when it was not, and no second refund goes out beside the first. Method: a server that answers as Razorpay
 * documents.
 */
import { expect, test } from 'vitest';
import { razorpay } from '../../src/entries/dialects.js';
import { charged, lost } from '../support/server.js';
import { CART, HOUR, pay } from '../support/world.js';
import { plays, worldOf } from './support/suite.js';

const said = (status: number, body: object) => ({ status, headers: { 'content-type': 'application/json' }, body });

test.each(['failed', 'reversed', 'rejected', 'cancelled'])(
  'a repeated key gets the present state of its payout: a payout that was %s is none, and the next call gets another key',
  async (status) => {
    const dialect = razorpay({ makes: 'payout' });
    const world = worldOf(dialect);
    const { tab, once } = world.open({ dialect });
    const refused = await world.end(tab, pay(once), lost(), plays(said(200, { entity: 'payout', id: 'pout_1', status })));
    expect(refused.outcome).toMatchObject({ type: 'rejected', effect: 'none' });
    const paid = await world.end(tab, pay(once), plays(said(200, { entity: 'payout', id: 'pout_2', status: 'processing' }), true));
    expect(paid.outcome).toMatchObject({ effect: 'done' });
    expect(paid.outcome?.key).not.toBe(refused.outcome?.key);
  },
);

test('"different request" does not mean work in progress: the end of the first refund is read, and no second one is sent', async () => {
  const dialect = razorpay({ makes: 'refund' });
  const world = worldOf(dialect);
  const { tab, once } = world.open({ dialect });
  await world.end(tab, pay(once, { limits: { attempts: 1 } }), charged(lost()));
  const description = 'Different request with the same idempotency key has already been processed.';
  world.server.plays(
    plays(said(409, { error: { code: 'BAD_REQUEST_ERROR', description } })),
    plays(said(200, { entity: 'refund', id: 'rfnd_1', status: 'processed' }), true),
  );
  expect(await world.end(tab, pay(once, { body: { ...CART, amount: 99 } }))).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done' } });
  expect(new Set(world.server.keys).size).toBe(1);
});

test.each([
  ['payout', 6 * 24],
  ['refund', 24],
  ['transfer', 24],
] as const)('the key of a %s is relied on for %i hours', (makes, hours) => expect(razorpay({ makes }).windowMs).toBe(hours * HOUR));
