/** Goal: wherever the store fails in a log-out or a move, the same call again comes to the end, and the key in use stays the one that goes out. */
import { expect } from 'vitest';
import { clear, move } from '../../src/entries/index.js';
import { pressOffline } from '../support/press-offline.js';
import { answers, charged, replays } from '../support/server.js';
import { pay, test } from '../support/world.js';

const REFUSED = charged(answers(400, { code: 'bad_card' }));
const FAULTS = ['fail-before-commit', 'fail-after-commit'] as const;

for (const fault of FAULTS)
  for (const open of [false, true])
    test.for([1, 2, 3, 4, 5, 6])(`move: ${fault}, a press without a network ${open}, the %ith`, async (count, { world }) => {
      let tab = world.tab({ resends: true });
      const { outcome } = await world.end(tab, pay(tab.once({ namespace: 'guest' })), REFUSED);
      if (open) tab = await pressOffline(tab, (page) => pay(page.once({ namespace: 'guest' }), { body: { card: 'B' } }));
      const ann = tab.once({ namespace: 'ann' });
      const { update } = tab.store;
      let updates = 0;
      Object.assign(tab.store, {
        update: (...call: Parameters<typeof update>) => {
          if (++updates === count) tab.faults.next(fault);
          return update(...call);
        },
      });
      await world.run(move(ann, 'guest').catch(() => {}));
      updates = 100;
      await world.run(move(ann, 'guest'));
      await world.run(clear(ann));
      await world.end(tab, pay(ann, { body: { card: 'C' } }), replays());
      expect(new Set(world.server.keys)).toEqual(new Set([outcome?.key]));
    });
