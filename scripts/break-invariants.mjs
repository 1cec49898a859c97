/**
 * Shows that the simulation would notice: breaks a copy of the sources one line at a time, and reports
 * which checker saw it and after how many operations. Fails if one survives: `npm run break-invariants`.
 */
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleSimulation } from './simulation-bundle.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const OPERATIONS_MAX = 20_000;
const MS_MAX = 300_000;
const BASE = 1;

/**
 * `in`: the worlds that are about it; without it, all.
 * @typedef {{ readonly name: string, readonly file: string, readonly find: string, readonly replace: string, readonly in?: string }} Break
 * @type {readonly Break[]}
 */
const BREAKS = [
  {
    name: 'no durable write before the first byte',
    file: 'engine/claim.ts',
    find: "return await updateStored(client, slot, id, change, job.name.length ? 'strict' : 'relaxed', deadline);",
    replace: 'return change(await readStored(client, slot, id), client.platform.clock.now()).value;',
  },
  {
    name: 'key dropped on a 401 after a timeout',
    file: 'core/decide.ts',
    find: 'if ((s.ambiguous && !s.refusedOnly) || reading.ambiguous) return refusedAfterAmbiguity(reading, s);',
    replace: '',
  },
  {
    name: 'another key for a record that is taken up',
    file: 'core/begin.ts',
    find: '    revision: before.revision + 1,\n    ambiguous',
    replace: "    key: c.keyKind === 'random' ? c.key : before.key,\n    revision: before.revision + 1,\n    ambiguous",
  },
  {
    name: 'an unconditional late write',
    file: 'engine/storing.ts',
    find: "if (record?.state !== 'pending' || record.key !== known.key) return { value: false };\n        if (isStill(known, record)) {",
    replace: 'if (record) {',
  },
  {
    name: 'a record lost when nobody knows how it ended',
    file: 'engine/finish.ts',
    find: '  if (decision.ask) {\n    const asked = await ask(drive, decision.ending.reason, result, cause);',
    replace: '  await commit(job, record, () => null);\n  if (decision.ask) {\n    const asked = await ask(drive, decision.ending.reason, result, cause);',
  },
  {
    name: "a false 'none' after attempts without an answer",
    file: 'core/decide.ts',
    find: "if (s.ambiguous || reading.ambiguous) return stop(s.answered ? 'unavailable' : 'no-answer', false,",
    replace: "if (s.answered && reading.ambiguous) return stop('unavailable', false,",
  },
  {
    name: 'a wait that never ends',
    file: 'engine/attempt.ts',
    find: 'let time = limit(clock, sending.ms, [sending.stop]);',
    replace: 'let time = limit(clock, 1e9, [sending.stop]);',
  },
  {
    name: 'the key window is not looked at',
    file: 'core/retention.ts',
    find: '  return now >= Math.min(',
    replace: '  return now < 0 && now >= Math.min(',
  },
  {
    name: 'the person is not asked for before an attempt',
    file: 'engine/halt.ts',
    find: "if (!isSamePerson(client, namespace)) return 'identity';",
    replace: '',
  },
  {
    name: 'a 5xx counts as a clean refusal',
    file: 'core/verdict.ts',
    find: "export const TRANSIENT = reading('transient', true);",
    replace: "export const TRANSIENT = reading('transient', false);",
  },
  {
    name: 'a store that cannot be looked at counts as empty',
    file: 'engine/claim.ts',
    find: "if (begun?.do !== 'drive' || !begun.inserted || client.registry.degraded.has(slot)) throw storeError(job, cause);",
    replace: `if (begun === undefined) return client.registry.degraded.set(slot, client.fallback()), updateStored(client, slot, id, change);
    if (begun.do !== 'drive' || !begun.inserted) throw storeError(job, cause);`,
  },
  {
    name: 'a call joins another payload',
    file: 'engine/operate.ts',
    find: 'mine.fingerprint === theirs',
    replace: 'mine !== undefined',
  },
  {
    name: 'what was sent in doubt is called clean by the next page',
    file: 'core/begin.ts',
    find: 'ambiguous: before.ambiguous || !c.clean,',
    replace: 'ambiguous: false,',
  },
  {
    name: 'a log-out forgets unsettled keys',
    file: 'features/clear.ts',
    find: 'return forget ? { next: null, value: next } : { next, value: next };',
    replace: 'return { next: null, value: next };',
  },
  {
    name: 'resume() goes on when nobody listens any more',
    file: 'features/resume.ts',
    find: 'over.abort(OVER);',
    replace: '',
  },
  {
    name: 'a log-in leaves behind what may have been sent',
    file: 'features/move.ts',
    find: "return stored === undefined || there?.state === 'retired' ?",
    replace: 'return stored === undefined && !taken.ambiguous ?',
  },
  {
    name: 'unknown resolves with an answer that looks fine',
    file: 'engine/finish.ts',
    find: "(ending.effect !== 'unknown' || !result.ok)",
    replace: 'true',
  },
  {
    name: 'if-changed repeats an equal payload',
    in: 'again',
    file: 'core/begin.ts',
    find: "if (c.repeat === 'always' || (c.repeat === 'if-changed' && !answers))",
    replace: "if (c.repeat !== 'never')",
  },
  {
    name: 'who waited for another one sends its own',
    in: 'again',
    file: 'core/begin.ts',
    find: "if (c.waited && c.waited.ended !== lifeOf(record) && (answers || c.resumeOnly)) return { value: { do: 'remembered', record } };",
    replace: '',
  },
  {
    name: 'drivers go on after a log-out',
    in: 'by-hand',
    file: 'features/clear.ts',
    find: 'lease: current.lease, revision: current.revision + 1',
    replace: 'lease: current.lease, revision: current.revision',
  },
  {
    name: 'forget and settle come over what is under way in this context',
    in: 'by-hand',
    file: 'engine/claimed.ts',
    find: 'if (client.registry.flights.has(place.slot)) throw busyError({ client, ...place });',
    replace: '',
  },
  {
    name: 'forget and settle come over another one’s lease',
    in: 'by-hand',
    file: 'engine/storing.ts',
    find: 'leaseHolds(lease, now) && lease.owner !== owner;',
    replace: 'false;',
  },
  {
    name: 'a marked answer is another payload’s, though this one was sent before',
    in: 'form',
    file: 'core/decide.ts',
    find: 'marked && !s.sameAmbiguous',
    replace: 'marked',
  },
  {
    name: 'work behind a link is always the present payload’s',
    in: 'polling',
    file: 'engine/finish.ts',
    find: 'const doubtful = ',
    replace: 'const doubtful = drive.start.changed && false && ',
  },
  {
    name: 'the sweep removes what was settled since it looked',
    in: 'months',
    file: 'engine/sweep.ts',
    find: `  const changed = record?.revision !== seen.revision || record.forgetAt !== seen.forgetAt;
  if (changed || leaseHolds(record.lease, storeNow)) return { value: undefined };
  const earlier = Math.min(now, storeNow);
  if (record.forgetAt >= earlier) return { value: 'early' };
  const next = afterSweep(record, earlier);`,
    replace: `  if (record?.revision !== seen.revision) return { value: undefined };
  const next = afterSweep(seen, Math.min(now, storeNow));`,
  },
  {
    name: 'one look at one clock removes what is due',
    in: 'wrong-month',
    file: 'core/retention.ts',
    find: 'if (record.dueAt !== undefined || !isPrecious(record)) return null;',
    replace: 'if (record) return null;',
  },
  {
    name: 'a refusal from in front is no effect, though a copy may have gone out unseen',
    in: 'silent-copies',
    file: 'core/decide.ts',
    find: "if (from === 'in-front' && (s.mayResend || s.refusedOnly))",
    replace: "if (from === 'in-front' && s.refusedOnly && s.reused)",
  },
  {
    name: 'a key goes to an address that has never seen it',
    in: 'elsewhere',
    file: 'core/begin.ts',
    find: 'if (record.ambiguous && !c.resumeOnly && isElsewhere(record, c))',
    replace: 'if (record.ambiguous && c.origin === record.key && isElsewhere(record, c))',
  },
  {
    name: '"already processing" is done',
    in: 'wordings',
    file: 'core/verdict.ts',
    find: 'if (status === 202 && ambiguous',
    replace: 'if (status === 299 && ambiguous',
  },
];

const copy = mkdtempSync(join(tmpdir(), 'oncefetch-broken-'));
for (const part of ['src', 'test/simulation']) cpSync(join(root, part), join(copy, part), { recursive: true });

/**
 * @param {string} main
 * @param {string | undefined} worlds
 * @returns {Promise<string>}
 */
const simulate = (main, worlds) =>
  new Promise((resolve, reject) => {
    const args = [main, '--operations', String(OPERATIONS_MAX), '--base', String(BASE), '--first', '--json'];
    if (worlds !== undefined) args.push('--scenario', worlds);
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'], timeout: MS_MAX });
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
    });
    child.on('error', reject);
    child.on('close', () => resolve(text));
  });

/**
 * @param {Break} broken
 * @returns {Promise<{ caught: boolean, says: string }>}
 */
async function attempt({ file, find, replace, in: worlds }) {
  const path = join(copy, 'src', file);
  const sound = readFileSync(path, 'utf8');
  if (!sound.includes(find)) return { caught: false, says: `src/${file} has changed: what was to be broken is not there` };
  writeFileSync(
    path,
    sound.replace(find, () => replace),
  );
  const { folder, main } = bundleSimulation(copy);
  try {
    const text = await simulate(main, worlds);
    if (text === '') return { caught: false, says: `no end within ${MS_MAX / 1000} s` };
    const { sums, checkers } = JSON.parse(text);
    const caught = sums.violations > 0;
    const seen = Object.entries(checkers).map(([name, count]) => `${name}${count > 1 ? ` (${count})` : ''}`);
    return { caught, says: caught ? `${seen.join(', ')}, after ${sums.operations} operations` : `SURVIVED ${sums.operations} operations` };
  } finally {
    rmSync(folder, { recursive: true });
    writeFileSync(path, sound);
  }
}

/** What complains of sound sources would prove nothing of broken ones. */
const SOUND = { name: '(nothing broken)', file: 'once.ts', find: '', replace: '' };

const only = process.argv[2];
const width = Math.max(...BREAKS.map(({ name }) => name.length));
let survived = 0;
try {
  const { caught, says } = await attempt(SOUND);
  console.log(`${caught ? 'NOT SOUND' : 'sound '}  ${SOUND.name.padEnd(width)}  ${says.replace('SURVIVED', 'no complaint in')}`);
  if (caught) survived++;
  for (const broken of BREAKS.filter(({ name }) => only === undefined || name.includes(only))) {
    const { caught, says } = await attempt(broken);
    if (!caught) survived++;
    console.log(`${caught ? 'caught' : 'MISSED'}  ${broken.name.padEnd(width)}  ${says}`);
  }
} finally {
  rmSync(copy, { recursive: true });
}
console.log(survived === 0 ? 'every break was caught' : `${survived} not caught`);
process.exitCode = survived === 0 ? 0 : 1;
