/**
 * Goal: a first write that fails and is tried once more leads to one key, whoever else presses meanwhile. Method: another tab, or another client of the
 * page, presses at each step of a press whose first write fails.
 */
import { describe, expect } from 'vitest';
import type { StoreFaultName } from '../../src/testing/faulty-store.js';
import { charged, honest, lost } from '../support/server.js';
import type { TabOptions } from '../support/tab.js';
import { CART, ONE, pay, test } from '../support/world.js';

const ANN = { namespace: 'ann' } as const;
const EDITED = { ...CART, amount: 11 };
/** Crossings to locks, store and network, there and back. At the first one, the press has asked for its lock or its record, and written nothing. */
const STEPS = Array.from({ length: 11 }, (_, step) => step + 2);

describe.each<[string, TabOptions]>([
  ['pages', {}],
  ['pages without locks', { locks: false }],
  ['processes', { locks: false, server: true }],
])('%s', (_, of) => {
  test.for((['fail-before-commit', 'fail-after-commit'] as const).flatMap((fault) => STEPS.map((step) => [fault, step] as const)))(
    '%s: another tab presses at step %i, and there is one charge',
    async ([fault, step], { world }) => {
      world.server.otherwise = honest();
      const [one, two] = [world.open(ANN, of), world.open(ANN, of)];
      one.tab.faults.next(fault);
      const others: Promise<Response>[] = [];
      one.tab.at(step, () => others.push(pay(two.once)));
      const { outcome } = await world.end(one.tab, pay(one.once));
      others.push(pay(two.once));
      for (const other of others) expect((await world.end(two.tab, other)).outcome).toMatchObject({ effect: 'done', key: outcome?.key });
      expect(outcome).toMatchObject({ effect: 'done' });
      expect(world.server.charged.size).toBe(1);
    },
  );

  test.for<readonly [readonly StoreFaultName[], number]>(
    [['fail-before-commit'], ['fail-after-commit'], ['fail-before-commit', 'fail-before-commit']].flatMap((faults) =>
      STEPS.map((step) => [faults as StoreFaultName[], step] as const),
    ),
  )('%j: another client of the page presses an edited form at step %i, and it goes out under the same key', async ([faults, step], { world }) => {
    const { tab, once } = world.open({ ...ANN, ...ONE }, of);
    const second = tab.once({ ...ANN, ...ONE });
    tab.faults.next(...faults);
    world.server.otherwise = charged(lost());
    const others: Promise<Response>[] = [];
    const press = () => void tab.in(() => others.push(pay(second, { body: EDITED })));
    tab.at(step, press);
    const ends = [await world.end(tab, pay(once))];
    press();
    ends.push(...(await world.all(tab, ...others)));
    for (const { outcome } of ends) expect(outcome?.effect).toBe('unknown');
    expect(new Set(world.server.keys).size).toBe(1);
  });
});
