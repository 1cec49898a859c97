/** Goal: client tokens reach AWS in every protocol, and requests can be signed. Method: `support/suite.ts`, and a hook that signs. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { aws } from '../../src/entries/dialects.js';
import type { Leaving } from '../../src/option-types.js';
import { charged, lost } from '../support/server.js';
import { pay } from '../support/world.js';
import { samples } from './support/all.js';
import { payOf, plays, worldOf } from './support/suite.js';

const digest = (text: unknown): string => createHash('sha256').update(String(text)).digest('hex');
const signature = ({ method, url, body, attempt }: Pick<Leaving, 'method' | 'url' | 'body' | 'attempt'>): string => `${attempt}.${digest([method, url, body])}`;

test.each(['aws', 'aws, in a form', 'aws, in the query'])('%s: every attempt is signed anew, over the bytes that go out', async (name) => {
  const sample = samples[name] as (typeof samples)[string];
  const world = worldOf(sample.dialect);
  const { tab, once } = world.open({ dialect: sample.dialect, headers: (leaving) => ({ authorization: signature(leaving) }) });
  await world.end(tab, pay(once, payOf(sample)), charged(lost()), plays({ status: 200, headers: {}, body: '<ok/>' }, true));
  for (const [index, { method, url, body, headers }] of world.server.arrivals.entries())
    expect(headers.get('authorization')).toBe(signature({ method, url, body: body as string, attempt: index + 1 }));
  expect(world.server.arrivals).toHaveLength(2);
});

test('a token that is in the body already is the key, and no other one is added', async () => {
  const dialect = aws({ token: 'ClientRequestToken' });
  const world = worldOf(dialect);
  const { tab, once } = world.open({ dialect });
  world.server.plays(plays({ status: 200, headers: {} }, true));
  const body = '{"ClientRequestToken":"mine-1","TransactItems":[]}';
  expect((await world.end(tab, pay(once, { body }))).outcome).toMatchObject({ key: 'mine-1', effect: 'done' });
  expect(world.server.arrivals[0]?.body).toBe(body);
});

test('a token that may have taken effect at one path is not sent to another path, which may not know it', async () => {
  const dialect = aws({ token: 'clientToken' });
  const world = worldOf(dialect);
  const { tab, once } = world.open({ dialect });
  const { outcome } = await world.end(tab, pay(once, { body: '{"size":1}', limits: { attempts: 1 } }), charged(lost()));
  const end = await world.end(tab, pay(once, { body: '{"size":1}', url: 'https://shop.example/2026-01-01/volumes' }));
  expect(end).toMatchObject({ code: 'ERR_ONCE_MISMATCH', outcome: { reason: 'elsewhere', key: outcome?.key } });
  expect(world.server.arrivals).toHaveLength(1);
});
