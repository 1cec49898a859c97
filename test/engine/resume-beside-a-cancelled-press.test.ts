/**
 * Goal: `resume` does not tell the end of an earlier operation as that of the one it found. Method: it waits beside another tab's
 * press that has not left, and is cancelled, so that what its name stood for before is there again.
 */
import { expect, test } from 'vitest';
import { type Outcome, resume } from '../../src/entries/index.js';
import { answers } from '../support/server.js';
import { newWorld, pay, rest, watched } from '../support/world.js';

test.each([
  ['done', answers(201)],
  ['refused', answers(402, { code: 'card_declined' })],
] as const)('what was %s before is not told again', async (_, before) => {
  const world = newWorld();
  const options = { namespace: 'ann', keep: { request: true } } as const;
  const page = world.open(options);
  const other = world.open(options);
  world.server.plays(before);
  const first = (await world.end(page.tab, pay(page.once, { repeat: 'always' }))).outcome;
  page.tab.online = false;
  const cancel = new AbortController();
  const press = watched(pay(page.once, { repeat: 'always', signal: cancel.signal }));
  await rest();
  const ends: Outcome[] = [];
  const resumed = (async () => {
    for await (const { outcome } of resume(other.once)) ends.push(outcome);
  })();
  await rest();
  cancel.abort(new Error('cancelled'));
  expect((await world.end(page.tab, press)).outcome).toMatchObject({ type: 'unsent' });
  await world.run(resumed);
  expect(ends.map(({ key }) => key)).not.toContain(first?.key);
  expect(ends.map(({ effect }) => effect)).toEqual(['unknown']);
});

test('nor is what was pressed and done after it', async () => {
  const world = newWorld();
  const options = { namespace: 'ann', keep: { request: true } } as const;
  const page = world.open(options);
  const third = world.open(options);
  const other = world.open(options);
  world.server.plays(answers(201), answers(201));
  await world.end(page.tab, pay(page.once, { repeat: 'always' }));
  page.tab.online = false;
  const cancel = new AbortController();
  const press = watched(pay(page.once, { repeat: 'always', signal: cancel.signal }));
  await rest();
  const later = watched(pay(third.once, { repeat: 'always' }));
  await rest();
  const ends: Outcome[] = [];
  const resumed = (async () => {
    for await (const { outcome } of resume(other.once)) ends.push(outcome);
  })();
  await rest();
  cancel.abort(new Error('cancelled'));
  expect((await world.end(page.tab, press)).outcome).toMatchObject({ type: 'unsent' });
  expect((await world.end(third.tab, later)).outcome).toMatchObject({ type: 'fresh' });
  await world.run(resumed);
  expect(ends.map(({ effect }) => effect)).toEqual(['unknown']);
});
