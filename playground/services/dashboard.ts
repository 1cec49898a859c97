/** Sends every query of docs/grafana.json to Prometheus, as Grafana would, and collects the answers. */
import { readFileSync } from 'node:fs';

/** The parts of a dashboard that have queries. */
export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description: string;
  readonly targets: readonly { readonly refId: string; readonly expr: string; readonly legendFormat: string }[];
  readonly fieldConfig: {
    readonly defaults: {
      readonly unit: string;
      readonly thresholds?: { readonly steps: readonly { readonly color: string; readonly value: number | null }[] };
    };
  };
}
export interface Dashboard {
  readonly templating: { readonly list: readonly { readonly name: string; readonly type: string; readonly query: unknown; readonly allValue?: string }[] };
  readonly panels: readonly Panel[];
}

export const dashboard = JSON.parse(readFileSync(new URL('../../docs/grafana.json', import.meta.url), 'utf8')) as Dashboard;

/** One line of a panel: its labels, and its values over time. */
export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly legend: string;
  /** Each point is a time, in seconds since 1970, and the value at that time. */
  readonly points: readonly (readonly [at: number, value: number])[];
}
export interface Answer {
  readonly panel: number;
  readonly expr: string;
  /** The error message of Prometheus, if the query is invalid. */
  readonly error: string | undefined;
  readonly series: readonly Series[];
}
export interface Answers {
  readonly jobs: readonly string[];
  readonly from: number;
  readonly to: number;
  readonly answers: readonly Answer[];
}

interface Result {
  readonly status: string;
  readonly error?: string;
  readonly data?: unknown;
}

/** The number of points per panel: enough to draw a run. */
const POINTS = 60;
/** `$__rate_interval` is four scrapes, or a step and a scrape if that is more: https://grafana.com/docs/grafana/latest/datasources/prometheus/template-variables/ */
const rateIntervalMs = (scrapeMs: number, stepMs: number): number => Math.max(stepMs + scrapeMs, 4 * scrapeMs);

async function ask(url: string, path: string, fields: Readonly<Record<string, string>>): Promise<Result> {
  const response = await fetch(`${url}/api/v1/${path}?${new URLSearchParams(fields)}`);
  return (await response.json()) as Result;
}

const legendOf = (format: string, labels: Readonly<Record<string, string>>): string =>
  format.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => labels[name] ?? '').trim();

const FIRST_MS_MAX = 60_000;

/** Resolves when Prometheus has scraped at least this many processes. From then on a rising count has a rate. */
export async function firstScrapes(url: string, processes: number): Promise<void> {
  const deadline = Date.now() + FIRST_MS_MAX;
  for (;;) {
    const { data } = await ask(url, 'query', { query: 'sum(max_over_time(up[1m]))' });
    const [sum] = (data as { result: readonly { value: readonly [number, string] }[] }).result;
    if (Number(sum?.value[1]) === processes) return;
    if (Date.now() > deadline) throw new Error(`prometheus has read ${sum?.value[1] ?? 0} of ${processes} processes after ${FIRST_MS_MAX / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** @param from - ms since 1970; together with `to`, the time range that the dashboard shows */
export async function askDashboard(url: string, from: number, to: number, scrapeMs: number): Promise<Answers> {
  const stepMs = Math.max(Math.ceil((to - from) / POINTS), scrapeMs);
  const job = dashboard.templating.list.find(({ name }) => name === 'job')?.query as { query: string };
  const [, metric = '', label = ''] = /^label_values\((\w+), (\w+)\)$/.exec(job.query) ?? [];
  const found = await ask(url, `label/${label}/values`, { 'match[]': metric, start: String(from / 1000), end: String(to / 1000) });
  const jobs = (found.data ?? []) as string[];
  const variables: Readonly<Record<string, string>> = {
    job: dashboard.templating.list.find(({ name }) => name === 'job')?.allValue ?? '.*',
    __rate_interval: `${rateIntervalMs(scrapeMs, stepMs)}ms`,
    __range: `${Math.ceil((to - from) / 1000)}s`,
  };
  const answers = dashboard.panels.flatMap(({ id, targets }) =>
    targets.map(async ({ expr, legendFormat }): Promise<Answer> => {
      const query = expr.replaceAll(/\$(\w+)/g, (all, name: string) => variables[name] ?? all);
      const { error, data } = await ask(url, 'query_range', { query, start: String(from / 1000), end: String(to / 1000), step: `${stepMs}ms` });
      const { result = [] } = (data ?? {}) as { result?: readonly { metric: Record<string, string>; values: readonly [number, string][] }[] };
      const series = result.map(({ metric: labels, values }) => ({
        labels,
        legend: legendOf(legendFormat, labels),
        points: values.map(([at, value]) => [at, Number(value)] as const),
      }));
      return { panel: id, expr: query, error, series };
    }),
  );
  return { jobs, from, to, answers: await Promise.all(answers) };
}
