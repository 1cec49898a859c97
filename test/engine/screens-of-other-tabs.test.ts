/**
 * Goal: no screen goes on saying "not paid" while another tab pays. Method: two tabs that hear each other, as pages of one origin do.
 */
import { describe, expect, test } from 'vitest';
import { operation, pending, watch } from '../../src/entries/index.js';
import type { Tabs } from '../../src/ports.js';
import { answers, charged, delayed } from '../support/server.js';
import { NAME, newWorld, pay, rest, SECOND } from '../support/world.js';

/** Tabs of one world, each of which hears all the others. */
function scene() {
  const world = newWorld();
  const looks = new Map<object, Set<() => void>>();
  const open = () => {
    const tab = world.tab();
    const own = new Set<() => void>();
    looks.set(tab, own);
    const tabs: Tabs = {
      tell: () => {
        for (const [of, all] of looks) if (of !== tab) for (const look of all) look();
      },
      listen: (look) => {
        own.add(look);
        return () => own.delete(look);
      },
    };
    Object.assign(tab.platform, { tabs });
    return { tab, once: tab.once() };
  };
  return { world, one: open(), two: open() };
}

describe('while another tab sends', () => {
  test('what this one was refused before is not on its screen any more, and the end comes', async () => {
    const { world, one, two } = scene();
    const screen = operation(one.once, NAME);
    screen.subscribe(() => {});
    await world.end(one.tab, pay(one.once), answers(402, { code: 'card_declined' }));
    expect(screen.state).toMatchObject({ phase: 'settled', outcome: { effect: 'none' } });
    world.server.plays(delayed(5 * SECOND, charged(answers(201))));
    const paying = pay(two.once);
    await rest();
    expect(screen.state).toMatchObject({ phase: 'unsettled', pending: { sent: 'maybe' } });
    await world.end(two.tab, paying);
    await rest();
    expect(screen.state).toMatchObject({ phase: 'settled', outcome: { effect: 'done' } });
  });

  test('who watches is called at its begin and at its end, and sees it in between', async () => {
    const { world, one, two } = scene();
    const seen: boolean[][] = [];
    watch(one.once, async () => seen.push((await pending(one.once)).map(({ sent }) => sent === 'maybe')));
    world.server.plays(delayed(5 * SECOND, charged(answers(201))));
    const paying = pay(two.once);
    await rest();
    expect(seen).toEqual([[true]]);
    await world.end(two.tab, paying);
    await rest();
    expect(seen).toEqual([[true], []]);
  });
});
