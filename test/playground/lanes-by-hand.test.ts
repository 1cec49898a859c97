/**
 * Goal: the summary of docs/why.md on the front page has the numbers of the guide's table. Method: a table with every
 * kind of cell, and the guide itself.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { laneCounts } from '../../playground/page/lanes-by-hand.ts';

const GUIDE = readFileSync(new URL('../../docs/why.md', import.meta.url), 'utf8');

test('each cell counts once, for what it says', () => {
  const guide = [
    'Words.',
    '| what happens | by hand | ours |',
    '| --- | --- | --- |',
    '| one | **twice** | once |',
    '| two | **not charged** | once, told "not sure" |',
    '| three | once, **told otherwise** | once |',
    '',
    '| lane | what it is |',
  ].join('\n');
  expect(laneCounts(guide)).toEqual({
    situations: 3,
    lanes: [
      { lane: 'by hand', right: 0, twice: 1, notCharged: 1, toldOtherwise: 1 },
      { lane: 'ours', right: 3, twice: 0, notCharged: 0, toldOtherwise: 0 },
    ],
  });
});

test('every cell of the guide is counted', () => {
  const { situations, lanes } = laneCounts(GUIDE);
  // README gives these two numbers.
  expect([situations, lanes.length]).toEqual([15, 6]);
  for (const { lane, right, twice, notCharged, toldOtherwise } of lanes) expect(right + twice + notCharged + toldOtherwise, lane).toBe(situations);
  expect(lanes.at(-1)).toMatchObject({ lane: 'oncefetch', right: situations });
});
