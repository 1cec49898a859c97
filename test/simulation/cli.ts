import { run } from './run.js';
import { scenarios } from './scenarios/index.js';
const [name = 'checkout', from = '1', count = '1', trace = ''] = process.argv.slice(2);
const scenario = scenarios.find((one) => one.name === name)!;
let ops = 0, calls = 0, events = 0; const t = performance.now(); let bad = 0;
for (let seed = Number(from); seed < Number(from) + Number(count); seed++) {
  const r = await run(scenario, seed, { tracing: !!trace });
  ops += r.operations; calls += r.calls; events += r.events;
  if (trace) console.log(r.lines.join('\n'));
  if (r.violations.length) { bad++; if (bad < 6) console.log(seed, r.options.server.family, r.violations.slice(0, 3)); }
  if (count === '1') console.log(r.outcomes, r.struck, r.aparts, r.leftPending, r.onlyReconcile, r.effects);
}
console.log({ bad, ops, calls, events, ms: performance.now() - t });
