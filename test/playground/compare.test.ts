/** Goal: the comparison finds duplicates where they exist, and none elsewhere. Method: runs it as a user would, with few customers. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { headline, type Line, median, render } from '../../playground/compare/table.ts';

const root = join(import.meta.dirname, '../..');

const compare = (...flags: string[]) =>
  new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    const child = execFile(process.execPath, [join(root, 'playground/compare.ts'), '--checkouts', '2', ...flags], { cwd: root }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
/** The headline of a lane: customers, charged twice, not charged, told something untrue. */
const harmed = (stdout: string, lane: string) =>
  stdout
    .match(new RegExp(`^${lane} +(\\d+) customers: (\\d+) charged twice, (\\d+) not charged, (\\d+) told something untrue$`, 'm'))
    ?.slice(1)
    .map(Number);
/** The TOTAL line of a lane: wanted, made, duplicates, lost, untrue. */
const total = (stdout: string, lane: string) =>
  stdout
    .match(new RegExp(`^${lane} +TOTAL +(\\d+) +(\\d+) +(\\d+) +(\\d+) +(\\d+)`, 'm'))
    ?.slice(1)
    .map(Number);

describe.concurrent('the comparison', { timeout: 120_000 }, () => {
  test('finds one charge for each customer of oncefetch, and duplicates in the other lanes', async () => {
    const { code, stdout, stderr } = await compare();
    expect(total(stdout, 'oncefetch'), stdout + stderr).toEqual([30, 30, 0, 0, 0]);
    expect(harmed(stdout, 'oncefetch'), stdout).toEqual([30, 0, 0, 0]);
    for (const lane of ['plain fetch', 'naive retry']) {
      const [customers, twice, none, untrue] = harmed(stdout, lane) ?? [];
      const [wanted, , duplicates = 0, lost, last] = total(stdout, lane) ?? [];
      expect([customers, none, untrue]).toEqual([wanted, lost, last]);
      // A customer who was charged three times is one customer and two duplicates.
      expect(twice).toBeGreaterThan(0);
      expect(twice).toBeLessThanOrEqual(duplicates);
    }
    for (const lane of ['plain fetch', 'naive retry']) expect(total(stdout, lane)?.[2]).toBeGreaterThan(0);
    expect(code, stderr).toBe(0);
  });

  test('fails on a client that sends no key', async () => {
    const { code, stdout, stderr } = await compare('--only', 'oncefetch', '--entry', join(root, 'test/playground/keyless-once.ts'));
    expect(total(stdout, 'oncefetch')?.[2]).toBeGreaterThan(0);
    expect([code, stderr]).toEqual([1, expect.stringContaining('oncefetch failed')]);
  });
});

describe('the table of the comparison', () => {
  test.each([
    [[], 0],
    [[3], 3],
    [[9, 1, 5], 5],
    [[4, 1, 3, 2], 2.5],
  ])('the median of %j is %f', (numbers, middle) => expect(median(numbers)).toBe(middle));

  test('aligns its columns and adds up each lane', () => {
    const line: Line = { lane: 'a', fault: 'none', wanted: 10, made: 12, duplicates: 2, lost: 0, untrue: 1, harmedTwice: 2, medianMs: 4.4 };
    expect(render([line, { ...line, fault: 'kill', lost: 3, medianMs: 8 }, { ...line, lane: 'other' }], ['a']).split('\n')).toEqual([
      'lane  fault  wanted  made  duplicates  lost  untrue  median ms',
      '----  -----  ------  ----  ----------  ----  ------  ---------',
      'a     none       10    12           2     0       1          4',
      'a     kill       10    12           2     3       1          8',
      'a     TOTAL      20    24           4     3       2          6',
    ]);
  });

  test('counts customers, not charges, in its headline', () => {
    const even: Line = { lane: 'a', fault: 'none', wanted: 20, made: 20, duplicates: 4, lost: 4, untrue: 3, harmedTwice: 3, medianMs: 1 };
    expect(headline([even, even, { ...even, lane: 'other' }], ['a', 'other'])).toBe(
      'a      40 customers: 6 charged twice, 8 not charged, 6 told something untrue\nother  20 customers: 3 charged twice, 4 not charged, 3 told something untrue',
    );
  });
});
