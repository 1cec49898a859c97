/**
 * Goal: a log-out ends the calls that were made before it, and no press that is made after it. Method: `clear` is called while a call is under way;
 * edited forms are pressed before and after it, which wait for that call.
 */
import { describe, expect } from 'vitest';
import { clear } from '../../src/entries/index.js';
import { memoryStore } from '../../src/stores/memory.js';
import { answers, charged, delayed, lost } from '../support/server.js';
import { CART, ONE, pay, SECOND, test } from '../support/world.js';

const ANN = { namespace: 'ann', ...ONE } as const;
const EDITED = { ...CART, amount: 11 };
const AGAIN = { ...CART, amount: 12 };

describe('an edited form that is pressed after a log-out, while a call from before it is under way', () => {
  test('is sent under the key that was kept', async ({ world }) => {
    const { tab, once } = world.open(ANN);
    const [first] = await world.begin(pay(once), delayed(5 * SECOND, charged(lost())), answers(201));
    await world.run(clear(once));
    const [press] = await world.begin(pay(once, { body: EDITED }));
    const { outcome } = await world.end(tab, first);
    expect((await world.end(tab, press)).outcome).toMatchObject({ effect: 'done', key: outcome?.key });
    expect(world.server.arrivals).toHaveLength(2);
  });

  test('is sent, also behind a press from before the log-out, which is not', async ({ world }) => {
    const { tab, once } = world.open(ANN);
    const [first] = await world.begin(pay(once), delayed(5 * SECOND, charged(lost())), answers(201));
    const [before] = await world.begin(pay(once, { body: EDITED }));
    await world.run(clear(once));
    const [press] = await world.begin(pay(once, { body: AGAIN }));
    await world.end(tab, first);
    expect((await world.end(tab, before)).outcome).toMatchObject({ effect: 'unknown', attempts: 0 });
    expect((await world.end(tab, press)).outcome).toMatchObject({ effect: 'done' });
    expect(world.server.arrivals).toHaveLength(2);
  });

  test('is not sent after a second log-out', async ({ world }) => {
    const { tab, once } = world.open(ANN);
    const [first] = await world.begin(pay(once), delayed(5 * SECOND, charged(lost())));
    await world.run(clear(once));
    const [press] = await world.begin(pay(once, { body: EDITED }));
    await world.run(clear(once));
    await world.end(tab, first);
    expect((await world.end(tab, press)).outcome).toMatchObject({ effect: 'unknown', attempts: 0 });
    expect(world.server.arrivals).toHaveLength(1);
  });

  test('is not sent after a second log-out, also behind a press from before both', async ({ world }) => {
    const { tab, once } = world.open(ANN);
    const [first] = await world.begin(pay(once), delayed(5 * SECOND, charged(lost())));
    const [before] = await world.begin(pay(once, { body: EDITED }));
    await world.run(clear(once));
    const [press] = await world.begin(pay(once, { body: AGAIN }));
    await world.run(clear(once));
    await world.end(tab, first);
    for (const call of [before, press]) expect((await world.end(tab, call)).outcome).toMatchObject({ effect: 'unknown', attempts: 0 });
    expect(world.server.arrivals).toHaveLength(1);
  });
});

test('an edited form waits for a call from before a log-out, and a press that is made then begins before it: it is not sent', async ({ world }) => {
  const { tab, once } = world.open(ANN);
  const presses: Promise<Response>[] = [];
  const onOutcome = () => void presses.push(pay(once, { body: AGAIN }));
  const [first] = await world.begin(pay(once, { onOutcome }), delayed(5 * SECOND, charged(lost())), lost());
  const [before] = await world.begin(pay(once, { body: EDITED }));
  await world.run(clear(once));
  await world.end(tab, first);
  for (const press of presses) expect((await world.end(tab, press)).outcome).toMatchObject({ effect: 'unknown', attempts: 1 });
  expect((await world.end(tab, before)).outcome).toMatchObject({ effect: 'unknown', attempts: 0 });
  expect(world.server.arrivals).toHaveLength(2);
});

test('an edited form waits for a call, and the app logs out when that call tells its outcome: the form is not sent', async ({ world }) => {
  const { tab, once } = world.open(ANN);
  const clears: Promise<unknown>[] = [];
  const onOutcome = () => void clears.push(clear(once));
  const [first] = await world.begin(pay(once, { onOutcome }), delayed(5 * SECOND, charged(lost())));
  const [edited] = await world.begin(pay(once, { body: EDITED, meta: { note: 'secret' } }));
  await world.end(tab, first);
  expect((await world.end(tab, edited)).outcome).toMatchObject({ effect: 'unknown', attempts: 0 });
  await world.run(Promise.all(clears));
  expect(world.server.arrivals).toHaveLength(1);
  expect(JSON.stringify(world.records)).not.toContain('secret');
});

test('a log-out of a client with another store ends no call of this one', async ({ world }) => {
  const { tab, once } = world.open(ANN);
  const other = tab.once({ ...ANN, store: memoryStore() });
  const [first] = await world.begin(pay(once), delayed(5 * SECOND, charged(lost())), answers(201));
  const [press] = await world.begin(pay(once, { body: EDITED }));
  await world.run(clear(other));
  await world.end(tab, first);
  expect((await world.end(tab, press)).outcome).toMatchObject({ effect: 'done' });
});

test('in a process, where many users meet, the log-out of one ends no call of another', async ({ world }) => {
  let user = 'ann';
  const { tab, once } = world.open({ ...ONE, namespace: () => user }, { server: true, locks: false });
  const [first] = await world.begin(pay(once), delayed(5 * SECOND, charged(lost())), answers(201));
  const [press] = await world.begin(pay(once, { body: EDITED }));
  user = 'bob';
  await world.run(clear(once));
  user = 'ann';
  await world.end(tab, first);
  expect((await world.end(tab, press)).outcome).toMatchObject({ effect: 'done' });
});
