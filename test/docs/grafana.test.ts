/**
 * Goal: the dashboard shows what the entry emits, so that no panel stays empty forever. Method: compares its queries
 * with the metrics that the entry creates, under the names that Prometheus gives them, and its shape with the types of
 * Grafana's own SDK and with what Grafana needs to load it. In test/playground/dashboard.test.ts, a real Prometheus
 * answers the queries.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Meter } from '@opentelemetry/api';
import ts from 'typescript';
import { beforeAll, describe, expect, test } from 'vitest';
import { fileOf } from '../../scripts/draw-dashboard.ts';
import { metricsOf } from '../../src/integrations/opentelemetry/metrics.js';
import { ATTRIBUTES, METRICS } from '../../src/integrations/opentelemetry/names.js';
import { root } from './support/markdown.js';

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description: string;
  readonly datasource: { readonly type: string; readonly uid: string };
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets: readonly { readonly refId: string; readonly expr: string; readonly legendFormat: string }[];
  readonly fieldConfig: { readonly defaults: { readonly unit: string } };
}

interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly schemaVersion: number;
  readonly time: { readonly from: string; readonly to: string };
  readonly templating: { readonly list: readonly { readonly name: string; readonly type: string; readonly query: unknown }[] };
  readonly panels: readonly Panel[];
}

const json = readFileSync(join(root, 'docs/grafana.json'), 'utf8');
const dashboard = JSON.parse(json) as Dashboard;

/** Names as the OTLP receiver of Prometheus and the Collector make them: https://opentelemetry.io/docs/specs/otel/compatibility/prometheus_and_openmetrics/ */
function inPrometheus(kind: string, name: string, unit: string): string[] {
  const base = name.replaceAll('.', '_');
  return [...new Set([base, unit === 's' ? `${base}_seconds` : base])].flatMap((one) => {
    if (kind === 'createCounter') return [`${one}_total`];
    return kind === 'createHistogram' ? ['bucket', 'sum', 'count'].map((part) => `${one}_${part}`) : [one];
  });
}

/** The names in Prometheus, by the name of each metric that the entry creates. */
const emitted = new Map<string, string[]>();
const meter = new Proxy({} as Meter, {
  get:
    (_, kind) =>
    (name: string, { unit }: { unit: string }) =>
      void emitted.set(name, inPrometheus(String(kind), name, unit)),
});
metricsOf(meter);

const { effect, type, reason, replayedFrom, duplicate, conflict } = ATTRIBUTES;
const LABELS = new Set([effect, type, reason, replayedFrom, duplicate, conflict].map((name) => name.replaceAll('.', '_')));
const FOREIGN = ['__name__', 'job', 'le'];

const targets = dashboard.panels.flatMap((panel) => panel.targets);
const all = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, found = '']) => found);
const namesIn = (expr: string): string[] => [...all(expr, /\b(oncefetch_\w+)\{/g), ...all(expr, /__name__=~"([^"]+)"/g)];
const labelsIn = (expr: string, legend: string): string[] =>
  [...all(expr, /(\w+)=~?"/g), ...all(expr, /by \(([^)]*)\)/g).flatMap((list) => list.split(/, */)), ...all(legend, /\{\{(\w+)\}\}/g)].filter(
    (label) => !FOREIGN.includes(label),
  );

test('the entry creates each of its metrics', () => expect([...emitted.keys()].sort()).toEqual(Object.values(METRICS).sort()));

describe('queries', () => {
  test.each(targets.map(({ expr, legendFormat }) => [expr, legendFormat]))('%s', (expr, legend) => {
    const known = [...emitted.values()].flat();
    expect(namesIn(expr).length).toBeGreaterThan(0);
    for (const name of namesIn(expr)) expect(known.some((one) => new RegExp(`^(${name})$`).test(one))).toBe(true);
    for (const label of labelsIn(expr, legend)) expect(LABELS).toContain(label);
  });

  test('show every metric, with and without its unit in the name', () => {
    const shown = targets.flatMap(({ expr }) => namesIn(expr));
    const matches = (one: string): boolean => shown.some((name) => new RegExp(`^(${name})$`).test(one));
    for (const [name, names] of emitted) {
      const variants = names.filter((one) => !/_(sum|count)$/.test(one) || name === METRICS.unsettled);
      expect(
        variants.filter((one) => !matches(one)),
        name,
      ).toEqual([]);
    }
  });
});

describe('the file', () => {
  const { panels, templating } = dashboard;

  test('has what Grafana needs to load it', () => {
    expect(dashboard).toMatchObject({ uid: 'oncefetch', title: 'oncefetch', schemaVersion: expect.any(Number), time: { from: 'now-6h', to: 'now' } });
    expect(templating.list.map(({ name, type }) => [name, type])).toEqual([
      ['datasource', 'datasource'],
      ['job', 'query'],
    ]);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    for (const { type, title, description, targets, datasource, fieldConfig } of panels) {
      expect(['stat', 'timeseries']).toContain(type);
      expect(title && description && fieldConfig.defaults.unit).toBeTruthy();
      expect(datasource).toEqual({ type: 'prometheus', uid: '$'.concat('{datasource}') });
      expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length);
    }
  });

  test('has panels that do not overlap', () => {
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) => Array.from({ length: w * h }, (_, n) => `${x + (n % w)} ${y + Math.floor(n / w)}`));
    expect(new Set(cells).size).toBe(cells.length);
    for (const { gridPos } of panels) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
  });
});

const WRONG: readonly (readonly [what: string, right: string, wrong: string])[] = [
  ['an unknown kind of panel', '"type": "timeseries"', '"type": "timeserie"'],
  ['a misspelled query', '"expr"', '"exprs"'],
  ['an unknown mode of colours', '"mode": "absolute"', '"mode": "relative"'],
  ['a calculation given as text', '"calcs": ["lastNotNull"]', '"calcs": "lastNotNull"'],
  ['a variable of another kind', '"type": "datasource"', '"type": "source"'],
  ['a position without its width', '"w": 6,', ''],
  ['a field that no dashboard has', '"schemaVersion"', '"versionOfSchema": 1, "schemaVersion"'],
];

/** What Grafana's types find wrong with each of these files. All files are in one program, so that the types are resolved only once. */
function refused(texts: readonly string[]): string[][] {
  const files = new Map(
    texts.map((text, n) => [
      join(root, `test/docs/support/dashboard-${n}-of-this-test.ts`),
      `import type { Dashboard } from './grafana-types.js';\nexport default ${text.trim()} satisfies Dashboard;\n`,
    ]),
  );
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    types: [],
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (name) => files.has(name) || fileExists(name);
  host.getSourceFile = (name, ...rest) => {
    const source = files.get(name);
    return source === undefined ? getSourceFile(name, ...rest) : ts.createSourceFile(name, source, ts.ScriptTarget.ES2022);
  };
  const program = ts.createProgram([...files.keys()], options, host);
  const inAll = [...program.getOptionsDiagnostics(), ...program.getSyntacticDiagnostics()];
  const textsOf = (diagnostics: readonly ts.Diagnostic[]) => diagnostics.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
  expect(textsOf(inAll)).toEqual([]);
  return [...files.keys()].map((path) => textsOf(program.getSemanticDiagnostics(program.getSourceFile(path))));
}

describe("Grafana's own types", { timeout: 60_000 }, () => {
  let found: string[][];
  beforeAll(() => {
    found = refused([json, ...WRONG.map(([, right, wrong]) => json.replace(right, wrong))]);
  }, 120_000);

  test('accept the file', () => expect(found[0]).toEqual([]));

  test.each(WRONG.map(([what, right], n) => [what, right, n + 1] as const))('refuse %s', (_, right, n) => {
    expect(json).toContain(right);
    expect(found[n]).not.toEqual([]);
  });
});

describe('the pictures in the guide', () => {
  const guide = readFileSync(join(root, 'docs/observability.md'), 'utf8');

  test.each(dashboard.panels.map((panel) => [panel.id, panel.title, panel] as const))(
    '%i, %s: is shown, and drawn from the current query',
    (_, title, panel) => {
      const file = fileOf(panel);
      expect(guide).toContain(`(images/${file})`);
      const picture = readFileSync(join(root, 'docs/images', file), 'utf8');
      const plain = picture.replaceAll('&lt;', '<').replaceAll('&amp;', '&');
      expect(plain).toContain(`<title>${title}</title><desc>${panel.targets.map(({ expr }) => expr).join('\n')}</desc>`);
      expect(picture.length).toBeLessThan(60_000);
    },
  );
});
