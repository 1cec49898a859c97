/** The command `oncefetch probe`. */

import type { Dialect } from '../../core/dialect.js';
import { generic } from '../../dialects/generic.js';
import { inBody, inHeader, inQuery } from '../../dialects/key-location.js';
import { fittingDialect } from '../fit.js';
import { type OpenProbe, openProbe, playAll } from '../probe.js';
import { EFFECTS_MAX, ROW_NAMES } from '../rows.js';
import { exitStatusOf } from '../verdict.js';
import { type Plan, planOf } from './arguments.js';
import { checkedCount } from './count.js';
import { begin, keptIn, resume, WAITS_MS_MAX } from './later.js';
import { documentOf, type Result, textOf } from './print.js';
import { hasLogin, targetOf } from './target.js';
import { HELP, UsageError } from './usage.js';

/** Where the command prints. */
export interface Output {
  out(text: string): void;
  err(text: string): void;
}

function dialectAt(carrier: string): Dialect {
  const [, kind, name = ''] = /^([\w-]+):(.+)$/.exec(carrier) ?? [];
  const place = kind === 'body' ? inBody(name) : kind === 'query' ? inQuery(name) : inHeader(name, { quoted: kind === 'header-sf' });
  return { ...generic(), ...place };
}

/** How many effects the run has at most if the server ignores keys and each of its answers is final. */
function effectsMax({ request, bodies, elsewhere, other, times, resume: resumed }: Plan): number {
  if (resumed !== undefined) return 1;
  const left: readonly (string | false)[] = [
    'killed',
    'passing-fault',
    'changed-after-fault',
    bodies.changed === undefined && 'other-payload',
    bodies.refused === undefined && 'refusal',
    !hasLogin(request) && 'refused-login',
    elsewhere === undefined && 'other-path',
    other.length === 0 && 'other-account',
    times.afterMs === undefined && 'after-wait',
  ];
  return ROW_NAMES.filter((row) => !left.includes(row)).reduce((sum, row) => sum + EFFECTS_MAX[row], 0);
}

async function run(plan: Plan, probe: OpenProbe, output: Output): Promise<Pick<Result, 'rows' | 'resumeAfter'>> {
  const { times, state, request } = plan;
  if (plan.resume !== undefined) return { rows: [await resume(probe.bench, keptIn(plan.resume, request.url))], resumeAfter: undefined };
  const rows = await playAll(probe, ({ tried, cameBack, severity }) => output.err(`${tried}: ${severity === 'not-tried' ? 'left out' : cameBack}`));
  const { afterMs } = times;
  const later = afterMs !== undefined && afterMs > WAITS_MS_MAX;
  return { rows, resumeAfter: later ? await begin(probe.bench, { file: state, url: request.url, afterMs }) : undefined };
}

async function probed(plan: Plan, output: Output): Promise<number> {
  const target = targetOf(plan);
  const before = target.count && (await checkedCount(async () => target.count?.() ?? 0));
  const learnt = plan.resume === undefined ? undefined : keptIn(plan.resume, plan.request.url).learnt;
  output.err(`Up to ${effectsMax(plan)} effects at ${plan.request.url}; more where an answer says to come back, and the effect is there.`);
  const waits = plan.times.afterMs !== undefined && plan.times.afterMs <= WAITS_MS_MAX;
  const times = { ...plan.times, afterMs: waits ? plan.times.afterMs : undefined };
  const probe = await openProbe(target, times, dialectAt(plan.carrier), learnt);
  try {
    const { rows, resumeAfter } = await run(plan, probe, output);
    const after = before === undefined ? undefined : await probe.bench.countAtRest();
    const effects = before === undefined || after === undefined ? undefined : after - before;
    const dialect = plan.resume === undefined ? fittingDialect(rows, probe.evidence, plan.carrier, probe.seen) : undefined;
    const result = { rows, dialect, effects, resumeAfter };
    output.out(plan.json ? JSON.stringify(documentOf(result), null, 2) : textOf(result));
    return exitStatusOf(rows);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    output.err(`oncefetch: ${error.message}\nThe probe had begun, and was not finished.`);
    return 1;
  } finally {
    await probe.close();
  }
}

/** Runs the command, and gives its exit status. */
export async function main(args: readonly string[], output: Output): Promise<number> {
  try {
    const plan = planOf(args);
    if (plan !== 'help') return await probed(plan, output);
    output.out(HELP);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    output.err(`oncefetch: ${error.message}\nSee: npx oncefetch --help`);
    return 2;
  }
}
