/**
 * Goal: an earlier release of the page let the customer agree that a payment goes on without it; the present one cannot (`background`). The operation has
 * one effect all the same, and what callers are told is true. Method: the page presses it, as it was or edited, and the service worker wakes at each of
 * the page's calls to storage, locks and network in turn.
 */
import { expect, test } from 'vitest';
import { type OnceOptions, resumeInBackground } from '../../src/entries/index.js';
import { everything } from '../../src/everything.js';
import { pressOffline } from '../support/press-offline.js';
import { answers, type Entry, idle, lost, type ScriptedServer, textOf } from '../support/server.js';
import { CART, HOUR, newWorld, ONE, pay, SECOND, watched } from '../support/world.js';

const EDITED = { ...CART, amount: 20 };
const EARLIER: OnceOptions = { namespace: 'ann' };
const PRESENT: OnceOptions = { ...EARLIER, use: everything().filter(({ parts }) => !('begins' in parts)) };
/** As many calls as the longest of these presses makes. */
const CALLS = 8;

/** A server that compares payloads. Gives the payloads that took effect, and what the next answers are to be. */
function shop(server: ScriptedServer) {
  const known = new Map<string | null, string>();
  const effects: string[] = [];
  const fates: Entry[] = [];
  server.otherwise = async (arrival, of) => {
    const text = await textOf(arrival);
    const first = known.get(arrival.key);
    const fate = fates.shift();
    if (fate && 'idle' in fate) return fate(arrival, of);
    if (first !== undefined && first !== text) return answers(422, { title: 'Idempotency-Key is already used' })(arrival, of);
    if (first === undefined) {
      known.set(arrival.key, text);
      effects.push(text);
      of.charged.add(arrival.key);
    }
    return (fate ?? answers(201, {}, first === undefined ? {} : { 'idempotent-replayed': 'true' }))(arrival, of);
  };
  return { effects, fates };
}

const BEFORE = ['stored while offline', 'lost before its effect', 'lost after its effect'] as const;
const FATES: Readonly<Record<string, readonly Entry[]>> = {
  answers: [],
  'gives no answer': [lost(), lost()],
  'declines it': [idle(answers(402, { code: 'card_declined' }))],
};

test.each(BEFORE.flatMap((before) => Object.keys(FATES).map((fate) => [before, fate] as const)))(
  'a payment that was %s, and a server that %s: at most one effect, and no caller is told otherwise',
  async (before, fate) => {
    let worked = 0;
    for (const body of [CART, EDITED])
      for (let call = 1; call <= CALLS; call++) {
        const world = newWorld();
        const { effects, fates } = shop(world.server);
        const { tab, once } = world.open(EARLIER);
        const agreed = { background: { untilMs: world.clock.now() + HOUR } };
        if (before !== 'stored while offline') {
          fates.push(before === 'lost before its effect' ? idle(lost()) : lost());
          await world.end(tab, pay(once, { ...agreed, ...ONE }));
        }
        const page = before === 'stored while offline' ? await pressOffline(tab, (dying) => pay(dying.once(EARLIER), agreed)) : tab.reload();
        const worker = world.tab();
        let background: Promise<unknown> | undefined;
        page.at(call, () => {
          background = watched(resumeInBackground(worker.once(EARLIER)));
          // Every other time the page is frozen as well, with its lock.
          if (call % 2) return;
          page.freeze();
          world.clock.timer(70 * SECOND, () => page.thaw());
        });
        fates.push(...(FATES[fate] ?? []));
        const present = page.once(PRESENT);
        const ends = [await world.end(page, pay(present, { body, ...ONE }))];
        await world.run(Promise.resolve(background));
        worked += world.server.arrivals.filter(({ from }) => from === worker.name).length;
        ends.push(await world.end(page, pay(present, { body })));
        expect(effects.length).toBeLessThanOrEqual(1);
        for (const { outcome, status } of ends) {
          if (outcome?.effect === 'done') expect(effects).toHaveLength(1);
          // Only the caller of the payload that took effect gets its answer.
          if (status === 201) expect(effects).toEqual([JSON.stringify(body)]);
        }
      }
    // If the page is told how the payment ended, nothing may be left for the worker to do.
    expect(worked).toBeGreaterThanOrEqual(fate === 'gives no answer' ? 1 : 0);
  },
);
