/**
 * `npm run docs:dashboard` draws docs/images/dashboard-*.svg: each panel of docs/grafana.json, from the answers of a real Prometheus to the panel's
 * queries after a run of the services. `--answers <file>` uses the answers of an earlier run.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import * as Plot from '@observablehq/plot';
import { Window } from 'happy-dom';
import { type Answers, dashboard, type Panel, type Series } from '../playground/services/dashboard.ts';

const root = join(import.meta.dirname, '..');
const RUN = ['--orders', '700', '--kills', '40', '--kill-every', '1200'];
const WIDTH = 460;
const LINE_PX = 15;
const COLORS = ['#0969da', '#bf3989', '#1a7f37', '#bc4c00', '#6639ba', '#57606a', '#9a6700', '#cf222e'];
const UNITS: Readonly<Record<string, string>> = { ops: 'per second', s: 'seconds', percentunit: 'share', short: '' };

/** The name of a panel's file. */
export const fileOf = ({ id, title }: Pick<Panel, 'id' | 'title'>): string => `dashboard-${id}-${title.toLowerCase().replaceAll(' ', '-')}.svg`;

function play(): Answers {
  const folder = mkdtempSync(join(tmpdir(), 'oncefetch-dashboard-'));
  const file = join(folder, 'answers.json');
  const { status } = spawnSync(process.execPath, [join(root, 'playground/services/play.ts'), ...RUN, '--answers', file], { stdio: 'inherit', cwd: root });
  if (status !== 0) throw new Error('the run failed');
  const answers = JSON.parse(readFileSync(file, 'utf8')) as Answers;
  rmSync(folder, { recursive: true, force: true });
  return answers;
}

/** Turns series into rows. JSON has null for NaN. Both that and a missing point become a gap. */
function rows(series: readonly Series[], from: number) {
  const times = [...new Set(series.flatMap(({ points }) => points.map(([at]) => at)))].sort((a, b) => a - b);
  return series.flatMap(({ legend, points }) => {
    const values = new Map<number, number | null>(points);
    return times.map((at) => ({ legend, at: at - from / 1000, value: values.get(at) ?? Number.NaN }));
  });
}

/** Formats a number as Grafana does: few digits, and a share in percent. */
const shown = (value: number, unit: string): string =>
  unit === 'percentunit' ? `${(value * 100).toFixed(1)} %` : `${Number(value.toPrecision(3))}${unit === 's' ? ' s' : ''}`;

type Point = readonly [x: number, y: number];

/** Makes a path about a third as long: whole pixels, relative steps, and no point between two others of the same height. */
function compact(path: string): string {
  const lines = [...path.matchAll(/M([^MZ]*)(Z?)/g)].map(([, points = '', close = '']) => {
    const all = points.split('L').map((one) => one.split(',').map((n) => Math.round(Number(n))) as [number, number]);
    const turns = all.filter(([, y], n) => all[n - 1]?.[1] !== y || all[n + 1]?.[1] !== y);
    const steps = turns.map(([x, y], n): Point => (n === 0 ? [x, y] : [x - (turns[n - 1]?.[0] ?? 0), y - (turns[n - 1]?.[1] ?? 0)]));
    const [[x, y] = [0, 0], ...rest] = steps;
    return `M${x},${y}${rest.length > 0 ? `l${rest.map(([dx, dy]) => `${dx}${dy < 0 ? '' : ' '}${dy}`).join(' ')}` : ''}${close.toLowerCase()}`;
  });
  return lines.join('');
}

function drawPanel(panel: Panel, { answers, from, to }: Answers): string {
  const series = answers.filter((answer) => answer.panel === panel.id).flatMap((answer) => answer.series);
  const { unit } = panel.fieldConfig.defaults;
  const stat = panel.type === 'stat';
  const legends = stat ? [] : series.map(({ legend }) => legend);
  const last = series[0]?.points.filter(([, value]) => value !== null).at(-1)?.[1];
  const below = (line: string, options: Plot.TextOptions): Plot.Markish =>
    Plot.text([line], { frameAnchor: 'bottom-left', lineAnchor: 'top', textAnchor: 'start', ...options });
  const data = rows(series, from);
  const chart = Plot.plot({
    document: new Window().document as unknown as Document,
    width: WIDTH,
    height: stat ? 150 : 190 + LINE_PX * legends.length,
    marginTop: 34,
    marginBottom: stat ? 24 : 38 + LINE_PX * legends.length,
    style: { background: '#ffffff', color: '#24292f', fontSize: '11px' },
    x: {
      domain: [0, (to - from) / 1000],
      label: stat ? null : 'seconds into the run',
      ...(stat && { axis: null }),
      labelAnchor: 'right',
      labelOffset: 32,
      tickSize: 0,
    },
    y: { grid: !stat, tickSize: 0, zero: true, nice: true, label: null, ...(stat && { axis: null }), ...(unit === 'percentunit' && { tickFormat: '%' }) },
    color: { domain: series.map(({ legend }) => legend), range: COLORS },
    marks: [
      ...(stat ? [Plot.areaY(data, { x: 'at', y: 'value', fill: '#0969da', fillOpacity: 0.2 })] : [Plot.ruleY([0], { stroke: '#d0d7de' })]),
      Plot.line(data, { x: 'at', y: 'value', stroke: 'legend', strokeWidth: 1.5 }),
      ...(stat && last !== undefined
        ? [Plot.text([shown(last, unit)], { frameAnchor: 'middle', fontSize: 34, fontWeight: 600, fill: '#24292f', stroke: '#ffffff', strokeWidth: 4 })]
        : []),
      Plot.text([[panel.title, stat ? '' : (UNITS[unit] ?? unit)].filter(Boolean).join(', ')], {
        frameAnchor: 'top-left',
        dy: -26,
        fontSize: 13,
        fontWeight: 600,
        textAnchor: 'start',
        lineAnchor: 'top',
      }),
      ...legends.map((legend, n) => below(`■ ${legend}`, { dy: 32 + n * LINE_PX, fill: COLORS[n % COLORS.length] ?? '' })),
    ],
  });
  chart.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  chart.setAttribute('role', 'img');
  chart.setAttribute('aria-label', panel.title);
  chart.querySelector('style')?.remove();
  for (const one of chart.querySelectorAll('[aria-hidden]')) for (const name of ['aria-hidden', 'aria-label', 'font-variant']) one.removeAttribute(name);
  // Round coordinates to tenths of a pixel.
  const drawn = chart.outerHTML
    .replaceAll(/ d="(M[\d.,MLZ-]+)"/g, (_, path: string) => ` d="${compact(path)}"`)
    .replaceAll(/(\d+\.\d)\d+/g, '$1')
    .replaceAll(/><\/(path|line)>/g, '/>');
  // The picture names its queries, so that a test sees whether it is out of date.
  const text = (name: string, value: string): string => `<${name}>${value.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</${name}>`;
  const said = text('title', panel.title) + text('desc', panel.targets.map(({ expr }) => expr).join('\n'));
  return `${drawn.replace(/^<svg[^>]*>/, (tag) => tag + said)}\n`;
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { answers: { type: 'string' } } });
  const answers = values.answers === undefined ? play() : (JSON.parse(readFileSync(values.answers, 'utf8')) as Answers);
  for (const panel of dashboard.panels) writeFileSync(join(root, 'docs/images', fileOf(panel)), drawPanel(panel, answers));
}
