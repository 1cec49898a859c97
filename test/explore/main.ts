import { parseArgs } from 'node:util';
import { Chooser, scriptOf } from './choices.js';
import { explore } from './explore.js';
import { play } from './play.js';
import { VARIANTS } from './variants.js';

const { values } = parseArgs({ options: { faults: { type: 'string', default: '1' }, switches: { type: 'string', default: '1' }, variant: { type: 'string' }, replay: { type: 'string' }, first: { type: 'boolean' } } });

if (values.replay !== undefined) {
  const variant = VARIANTS.find(({ name }) => name === values.variant) ?? VARIANTS[0]!;
  const chooser = new Chooser({ faults: 99, switches: 99 }, scriptOf(values.replay));
  const played = await play(variant, chooser);
  console.log(played.lines.join('\n'));
  console.log(chooser.points.map((p, i) => `${i} ${p.options[p.taken]!.label}   of ${p.options.map(o => o.label).join(' / ')}`).join('\n'));
} else
  for (const variant of VARIANTS.filter(({ name }) => values.variant === undefined || name === values.variant)) {
    const started = performance.now();
    const e = await explore(variant, { faults: Number(values.faults), switches: Number(values.switches), enough: (found) => values.first === true && found.length > 0 });
    console.log(`${e.variant}: played ${e.played}, spared ${e.spared}, states ${e.states}, ${((performance.now() - started) / 1000).toFixed(1)} s, violations ${e.found.length}`);
    const kinds = new Map<string, (typeof e.found)[number]>();
    for (const f of e.found) {
      const id = f.violations.map((v) => v.checker + ': ' + v.says.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'KEY').replace(/\d+/g, 'N')).join(' & ');
      const known = kinds.get(id);
      if (!known || known.lines.length > f.lines.length) kinds.set(id, f);
    }
    for (const [id, f] of kinds) console.log(`  ${id}\n    schedule: ${f.schedule}\n${f.lines.map((l, i) => `      ${i + 1}. ${l}`).join('\n')}`);
  }
