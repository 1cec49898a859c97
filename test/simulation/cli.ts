import { run } from './run.js';
import { shrink } from './shrink.js';
import { printFailure } from './print.js';
import { scenarios } from './scenarios/index.js';
const [name = 'checkout', from = '1', count = '1', trace = ''] = process.argv.slice(2);
for (const scenario of scenarios.filter((one) => name === 'all' || one.name === name || one.name.startsWith(name + '-'))) {
  let ops = 0,
    calls = 0,
    events = 0,
    left = 0,
    only = 0;
  const t = performance.now();
  let bad = 0;
  const kinds = new Map<string, number>(),
    ap = new Map<string, number>(),
    oc = new Map<string, number>();
  for (let seed = Number(from); seed < Number(from) + Number(count); seed++) {
    const r = await run(scenario, seed, { tracing: !!trace });
    ops += r.operations;
    calls += r.calls;
    events += r.events;
    left += r.leftPending;
    only += r.onlyReconcile;
    for (const [k, n] of r.aparts) ap.set(k, (ap.get(k) ?? 0) + n);
    for (const [k, n] of r.outcomes) oc.set(k, (oc.get(k) ?? 0) + n);
    if (trace) console.log(r.lines.filter((l) => trace === '1' || l.includes(trace)).join('\n'));
    if (r.violations.length) {
      bad++;
      for (const v of r.violations) kinds.set(v.checker, (kinds.get(v.checker) ?? 0) + 1);
      if (bad < 6)
        for (const v of r.violations.slice(0, 2))
          console.log(`  ${scenario.name} ${seed} [${r.options.server.family}] ${v.checker} @${v.at} ${v.op}: ${v.says}`);
    }
  }
  if (process.env['SHRINK']) {
    const r = await run(scenario, Number(from));
    if (r.violations.length) console.log(printFailure(r, await shrink(scenario, r)));
  }
  console.log(
    scenario.name,
    JSON.stringify({ bad, ops, calls, events, left, only, ms: Math.round(performance.now() - t) }),
    JSON.stringify(Object.fromEntries(kinds)),
    JSON.stringify(Object.fromEntries(ap)),
    process.env['OC'] ? JSON.stringify(Object.fromEntries(oc)) : '',
  );
}
