/**
 * Goal: a press that is made when a listener has heard of the end is a press after the end. With `repeat: 'always'` it stands for
 * another effect, and must not be told that it is done because the one before it is.
 */
import { expect } from 'vitest';
import { operation, subscribe } from '../../src/entries/index.js';
import { answers } from '../support/server.js';
import { NAME, pay, test } from '../support/world.js';

const ALWAYS = { repeat: 'always' } as const;

test('in a listener of events, with repeat', async ({ world }) => {
  const { tab, once } = world.open(ALWAYS);
  world.server.plays(answers(201), answers(201));
  let next: Promise<Response> | undefined;
  subscribe(once, ({ type }) => {
    if (type === 'settled') next ??= pay(once);
  });
  await world.end(tab, pay(once));
  expect((await world.end(tab, next as Promise<Response>)).outcome).toMatchObject({ type: 'fresh', joined: false });
  expect(new Set(world.server.keys).size).toBe(2);
});

test('in a screen that draws the end, with repeat', async ({ world }) => {
  const { tab, once } = world.open(ALWAYS);
  world.server.plays(answers(201), answers(201));
  const screen = operation(once, NAME);
  let next: Promise<Response> | undefined;
  screen.subscribe(() => {
    if (screen.state.phase === 'settled') next ??= pay(once);
  });
  await world.end(tab, pay(once));
  expect((await world.end(tab, next as Promise<Response>)).outcome).toMatchObject({ type: 'fresh', joined: false });
  expect(new Set(world.server.keys).size).toBe(2);
});
