/**
 * Goal: the pure parts of the page are right: the verdict on a screen, and the position of a bar in the timeline.
 * Method: tables of cases.
 */
import { describe, expect, test } from 'vitest';
import type { Seen } from '../../playground/page/lanes/lane.ts';
import { verdictOf } from '../../playground/page/lanes/verdict.ts';
import { wordsOf } from '../../playground/page/lanes/view.ts';
import type { Charge } from '../../playground/page/shop.ts';
import { layOut } from '../../playground/page/timeline/layout.ts';
import type { Entry } from '../../playground/page/timeline/recorder.ts';

const charges = (count: number): Charge[] =>
  Array.from({ length: count }, (_, index) => ({ id: index, cart: 'c', lane: 'oncefetch', amount: 4200, key: null, at: 0, nth: index + 1 }));

describe('the verdict', () => {
  const ready: Seen = { is: 'ready' };
  const paid: Seen = { is: 'paid' };
  const failed: Seen = { is: 'failed' };
  const unsure: Seen = { is: 'unsure', found: false };
  test.each<[Seen, number, string, string]>([
    [ready, 0, 'quiet', 'Not charged.'],
    [ready, 1, 'bad', 'Charged once, €42.00, but the customer was told nothing.'],
    [{ is: 'paying' }, 0, 'quiet', 'Not charged yet. The customer is waiting.'],
    [{ is: 'paying' }, 2, 'bad', 'Charged 2 times, €84.00 in all. The customer was told to wait.'],
    [paid, 0, 'bad', 'Not charged, but the customer was told “paid”.'],
    [paid, 1, 'good', 'Charged once, €42.00, and the customer knows.'],
    [paid, 2, 'bad', 'Charged 2 times, €84.00 in all. The customer was told “paid”.'],
    [failed, 0, 'good', 'Not charged. The customer was told “failed, try again”.'],
    [failed, 1, 'bad', 'Charged once, €42.00, but the customer was told “failed, try again”.'],
    [unsure, 0, 'unsure', 'Not charged. The customer was told “not sure yet”, which is true.'],
    [unsure, 1, 'unsure', 'Charged once, €42.00. The customer was told “not sure yet”, which is true.'],
    [unsure, 2, 'bad', 'Charged 2 times, €84.00 in all. The customer was told “not sure yet”.'],
  ])('%o with %i charges', (seen, count, tone, says) => expect(verdictOf(seen, charges(count), true)).toEqual({ tone, says }));
});

test('the "not sure" screen stops saying "pay again" as soon as a press would send nothing', () => {
  const words = (late: boolean): string => wordsOf({ is: 'unsure', found: true, late }, {});
  expect([words(false), words(true)].map((says) => says.includes('pay again'))).toEqual([true, false]);
});

describe('the timeline', () => {
  const entry = (from: number, to: number | null, kind: Entry['kind'] = 'attempt'): Entry => ({
    id: String(from),
    tab: 't',
    lane: 'oncefetch',
    cart: 'c',
    kind,
    from,
    to,
    says: '',
    tone: 'quiet',
  });
  const drawn = (entries: readonly Entry[], now = 0) => layOut(entries, now).rows.map(({ from, to, number, pause }) => [from, to, number, pause]);

  test('begins with its first entry, whatever the order of the entries', () => {
    expect(drawn([entry(1300, 1500), entry(1000, 1200)])).toEqual([
      [0, 200, 1, 0],
      [300, 500, 2, 0],
    ]);
  });

  test('counts attempts only', () => {
    expect(drawn([entry(0, 10), entry(10, 20, 'wait'), entry(20, 30)]).map(([, , number]) => number)).toEqual([1, undefined, 2]);
  });

  test('draws an entry that is still going on up to the present', () => expect(drawn([entry(1000, null)], 1700)).toEqual([[0, 700, 1, 0]]));

  test('cuts out a long pause after the latest end of overlapping entries, and says how long it was', () => {
    expect(drawn([entry(0, 3000), entry(100, 200), entry(63_000, 63_100)])).toEqual([
      [0, 3000, 1, 0],
      [100, 200, 2, 0],
      [3200, 3300, 3, 60_000],
    ]);
  });

  test('is as long as its last bar', () => expect([layOut([], 5).endMs, layOut([entry(0, 3000), entry(100, 200)], 0).endMs]).toEqual([0, 3000]));
});
