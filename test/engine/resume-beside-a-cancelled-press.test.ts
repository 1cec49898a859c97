/**
 * Goal: `resume` does not tell the end of an earlier operation as that of the one it found. Method: it waits beside another tab's
 * press that has not left, and is cancelled, so that what its name stood for before is there again.
 */
import { expect } from 'vitest';
import { answers, type Entry } from '../support/server.js';
import { pay, rest, resumed, test, type World, watched } from '../support/world.js';

const OPTIONS = { namespace: 'ann', keep: { request: true }, repeat: 'always' } as const;

/** A page whose second press waits for the network, after a first one that ended. */
async function waitingPress(world: World, before: Entry) {
  const page = world.open(OPTIONS);
  const first = (await world.end(page.tab, pay(page.once), before)).outcome;
  page.tab.online = false;
  const cancel = new AbortController();
  const press = watched(pay(page.once, { signal: cancel.signal }));
  await rest();
  const cancelled = async () => {
    cancel.abort(new Error('cancelled'));
    expect((await world.end(page.tab, press)).outcome).toMatchObject({ type: 'unsent' });
  };
  return { first, cancelled };
}

test.for([
  ['done', answers(201)],
  ['refused', answers(402, { code: 'card_declined' })],
] as const)('what was %s before is not told again', async ([_, before], { world }) => {
  const { first, cancelled } = await waitingPress(world, before);
  const resuming = resumed(world.open(OPTIONS).once);
  await rest();
  await cancelled();
  const ends = await world.run(resuming);
  expect(ends.map(({ outcome }) => outcome.key)).not.toContain(first?.key);
  expect(ends.map(({ outcome }) => outcome.effect)).toEqual(['unknown']);
});

test('nor is what was pressed and done after it', async ({ world }) => {
  const { cancelled } = await waitingPress(world, answers(201));
  world.server.plays(answers(201));
  const third = world.open(OPTIONS);
  const later = pay(third.once);
  await rest();
  const resuming = resumed(world.open(OPTIONS).once);
  await rest();
  await cancelled();
  expect((await world.end(third.tab, later)).outcome).toMatchObject({ type: 'fresh' });
  expect((await world.run(resuming)).map(({ outcome }) => outcome.effect)).toEqual(['unknown']);
});
