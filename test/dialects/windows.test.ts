/**
 * Goal: no dialect of many services remembers a key for longer than the service that forgets first. Method: the shortest documented time of each family,
 * and a second press after it.
 */
import { expect, test } from 'vitest';
import { aws, googleRequestId } from '../../src/entries/dialects.js';
import { charged, lost } from '../support/server.js';
import { HOUR, pay } from '../support/world.js';
import { worldOf } from './support/suite.js';

const MINUTE = HOUR / 60;

test.each([
  // AWS Private CA: "Idempotency tokens for CreateCertificateAuthority time out after five minutes."
  ['aws', aws, 5 * MINUTE],
  // VM Migration, Network Connectivity, Private CA and others: "The server will guarantee that for at least 60 minutes after the first request."
  ['googleRequestId', googleRequestId, HOUR],
] as const)('%s: after the shortest time that is documented, nothing more is sent', async (_, make, shortestMs) => {
  const dialect = make();
  const world = worldOf(dialect);
  const { tab, once } = world.open({ dialect });
  await world.end(tab, pay(once, { body: '{}', limits: { attempts: 1 } }), charged(lost()));
  await world.clock.advance(shortestMs);
  expect(await world.end(tab, pay(once, { body: '{}' }))).toMatchObject({ code: 'ERR_ONCE_KEY_EXPIRED' });
  expect(world.server.arrivals).toHaveLength(1);
});

test('a service that remembers longer is given its time', () => {
  expect([aws({ windowMs: 24 * HOUR }).windowMs, googleRequestId({ windowMs: 24 * HOUR }).windowMs]).toEqual([24 * HOUR, 24 * HOUR]);
});
