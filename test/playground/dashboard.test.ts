/**
 * Goal: the services charge each order once, and an operator who imports docs/grafana.json sees what happened: no query is wrong, and
 * none stays empty. Method: runs the services, with copies that are killed and a provider that loses answers. A real Prometheus scrapes
 * every process, and the test asks it each query of the dashboard as Grafana would. It reads the traces of the same run as they arrive by OTLP.
 *
 * Not covered, because the run cannot have them: the conflicts `mismatch` (no name comes with another payload here) and `claim-lost`
 * (a copy that lost its claim was killed, and reports no more).
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Answers, dashboard } from '../../playground/services/dashboard.ts';
import { withoutPrometheus } from '../../scripts/start-prometheus.ts';
import { describeOn } from '../support/describe-on.js';

const root = join(import.meta.dirname, '../..');
const ORDERS = 120;
const run = (script: string, ...flags: readonly string[]) =>
  new Promise<{ code: number; said: string }>((resolve) => {
    const child = execFile(process.execPath, [join(root, script), ...flags], { cwd: root, env: { ...process.env, STORE: 'sqlite' } }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, said: stdout + stderr }),
    );
  });

describeOn(withoutPrometheus)('a run of the services, in Prometheus', () => {
  let answers: Answers;
  let said: string;
  beforeAll(async () => {
    expect(await run('scripts/build.mjs', '--if-stale')).toMatchObject({ code: 0 });
    const folder = mkdtempSync(join(tmpdir(), 'oncefetch-dashboard-'));
    const file = join(folder, 'answers.json');
    const played = await run('playground/services/play.ts', '--orders', String(ORDERS), '--kills', '8', '--kill-every', '400', '--spans', '--answers', file);
    expect(played.code, played.said).toBe(0);
    said = played.said;
    answers = JSON.parse(readFileSync(file, 'utf8')) as Answers;
    rmSync(folder, { recursive: true, force: true });
  }, 240_000);

  test('one charge and one receipt for each order, although copies are killed', () => {
    expect(said).toContain(`charges ${ORDERS}, charged twice 0, not charged 0`);
    expect(said).toContain(`receipts ${ORDERS}, twice 0, missing 0`);
  });

  const seriesOf = (title: string) =>
    answers.answers.filter(({ panel }) => dashboard.panels.some((one) => one.id === panel && one.title === title)).flatMap(({ series }) => series);
  const largest = (title: string, legend: string): number =>
    Math.max(0, ...seriesOf(title).flatMap((one) => (one.legend === legend ? one.points.map(([, value]) => value ?? 0) : [])));

  test.each(dashboard.panels.flatMap(({ id, title, targets }) => targets.map(({ refId }, n) => [title, refId, id, n] as const)))(
    '%s, query %s',
    (_, __, id, n) => {
      const answer = answers.answers.filter(({ panel }) => panel === id)[n];
      expect(answer?.error).toBeUndefined();
      // JSON turns NaN into null. A rate of nothing is NaN.
      const values = answer?.series.flatMap(({ points }) => points.map(([, value]) => value)).filter((value) => value !== null) ?? [];
      expect(values.length, answer?.expr).toBeGreaterThan(0);
      expect(values.every((value) => value >= 0)).toBe(true);
    },
  );

  test('the list of services has every service', () => expect(answers.jobs).toEqual(['billing', 'customers', 'orders']));

  test.each([
    ['Operations by outcome', 'done, fresh'],
    ['Operations by outcome', 'done, replayed'],
    ['Nobody knows', 'unknown'],
    ['Why nobody knows', 'no-answer'],
    ['Duplicates suppressed', 'joined'],
    ['Duplicates suppressed', 'replayed server'],
    ['Conflicts', 'in-progress'],
    ['Unsettled operations', 'billing'],
    ['Age of the oldest', 'billing'],
  ])('%s has more than zero of: %s', (title, legend) => {
    expect(largest(title, legend), JSON.stringify(seriesOf(title).map((one) => one.legend))).toBeGreaterThan(0);
  });

  describe('spans', () => {
    const story = (what: string): string => new RegExp(`^${what}:\\n((?: +.*\\n?)+)`, 'm').exec(said)?.[1] ?? '';

    test('a lost answer: the second attempt is marked as a resend, and the spans of the transport are below both attempts', () => {
      expect(story('a lost answer')).toMatch(
        /^ {2}\w+: oncefetch operation .* type=replayed .*\n {4}\w+: POST CLIENT .*error\.type=.*\n {6}\w+: POST CLIENT .*error\.type=(.*\n)+ {4}\w+: POST CLIENT .*resend_count=[1-9] .*\n {6}\w+: POST CLIENT/,
      );
    });

    test('a replay: the operation has no attempt', () => {
      expect(story('a replay')).toMatch(/^ {2}\w+: oncefetch operation .* type=replayed replayed_from=store\b.*\n$/);
    });

    test('a join: the operation that was joined has an event', () => {
      expect(story('a join')).toMatch(/^ {2}customers: oncefetch operation .*\[oncefetch\.call_joined\].*\n {4}customers: POST CLIENT/);
    });

    test('a take-over: the span of the operation is marked as resumed, with effect done', () => {
      expect(story('a take-over')).toMatch(/^ {2}(billing|orders): oncefetch operation .* effect=done .*resumed=true.*\n {4}\w+: /);
    });

    test('one trace from the click to the queue, over two processes', () => {
      expect(story('from the click to the queue')).toMatch(
        /customers: oncefetch operation order .*\n(.*\n)* {6}customers: POST CLIENT .*\n {8}orders: oncefetch operation place .*\n {10}orders: oncefetch attempt .*\n {12}orders: POST CLIENT/,
      );
    });
  });
});
