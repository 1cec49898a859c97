/**
 * Goal: where `keep.forMs` is longer than a month, what may be done is remembered as long as what is done: a queue that delivers again
 * after forty days finds both. Method: two processes over one store that is swept in between.
 */
import { expect, vi } from 'vitest';
import { run } from '../../src/entries/index.js';
import { answers } from '../support/server.js';
import { DAY, NAME, pay, rest, test, watched } from '../support/world.js';

test.for([365 * DAY, Number.POSITIVE_INFINITY])(
  'a message whose first delivery ended unknown is not run again under a new key after 40 days, with keep.forMs: %s',
  async (forMs, { world }) => {
    const options = { keep: { forMs }, limits: { attempts: 1 } };
    const first = world.open(options, { server: true });
    const effect = vi.fn(() => Promise.reject(new TypeError('socket hang up')));
    const deliver = ({ tab, once }: typeof first) => world.end(tab, watched(run(once, NAME, effect)) as Promise<never>);
    expect((await deliver(first)).outcome).toMatchObject({ effect: 'unknown' });
    first.tab.kill();
    // A client sweeps after the first operation that it settles.
    for (const days of [31, 8]) {
      await world.clock.advance(days * DAY);
      const other = world.open(options, { server: true });
      await world.end(other.tab, pay(other.once, { operation: ['other', days] }), answers(201));
      await rest();
    }
    await world.clock.advance(DAY);
    expect(await deliver(world.open(options, { server: true }))).toMatchObject({ code: 'ERR_ONCE_KEY_EXPIRED', outcome: { effect: 'unknown' } });
    expect(effect).toHaveBeenCalledTimes(1);
  },
);
