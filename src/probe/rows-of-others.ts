/** Rows in which the same key comes with something else: another payload, a refused payload, another login, another path. */
import { isRefusal, isSuccess } from './answers.js';
import type { Bench, ProbeOperation } from './bench.js';
import { isMarked, judge } from './judge.js';
import { type Came, NotTried } from './request.js';
import type { Found } from './row.js';

/** Another payload under the same key. */
export async function otherPayload(bench: Bench): Promise<Found> {
  const operation = bench.operation();
  const { value: answers, effects } = await bench.counting(async () => [
    ...(await bench.sendFirst(operation)),
    await bench.send(operation, { payload: 'changed' }),
  ]);
  const [one, other] = answers.slice(-2);
  const found = { answers, effects };
  if (effects !== undefined && effects > 1) return { ...found, finding: 'doubles' };
  if (!one || !other) return { ...found, finding: 'no-answer' };
  if (effects === undefined && isSuccess(other) && other.text !== one.text) return { ...found, finding: 'may-double' };
  if (isSuccess(other)) return { ...found, finding: 'ignores-payload' };
  const evidence = isRefusal(other) ? [{ key: operation.key, came: other, means: 'mismatch' } as const] : [];
  return { ...found, finding: other.status >= 500 ? 'stored-fault' : 'refuses-payload', evidence, seen: { own: isSuccess(one) ? [one] : [] } };
}

const unrefused = (status: number): string =>
  `the server should have refused the payload, but answered ${status}${status < 300 ? ': if that is a refusal, it needs a rule (docs/dialects.md#declined-inside-a-2xx)' : ''}`;

/** A refusal, and then a corrected request. */
export async function refusal(bench: Bench): Promise<Found> {
  const operation = bench.operation();
  const newKey = { ...operation, key: bench.operation().key };
  const { value, effects } = await bench.counting(async () => {
    const before = await bench.countNow();
    const refused = await bench.send(operation, { payload: 'refused' });
    if (refused && !isRefusal(refused)) {
      const inside = isSuccess(refused) && before !== undefined && before === (await bench.countAtRest());
      if (inside) return { inside: { key: operation.key, came: refused, means: 'refused' } as const };
      throw new NotTried(unrefused(refused.status));
    }
    const repeated = await bench.send(operation, { payload: 'refused' });
    const corrected = await bench.insist(operation);
    const later = corrected.at(-1);
    return { refused: [refused, repeated], corrected, underNew: later && isSuccess(later) ? [] : await bench.insist(newKey) };
  });
  if (value.inside) return { answers: [value.inside.came], effects, finding: 'refused-inside', evidence: [value.inside] };
  const answers = [...value.refused, ...value.corrected, ...value.underNew];
  const last = answers.at(-1);
  if (effects !== undefined && effects > 1) return { answers, effects, finding: 'doubles' };
  if (!last || !isSuccess(last)) return { answers, effects, finding: 'refusal-blocks' };
  if (effects === 0) return { answers, effects, finding: 'false-success' };
  const [refused] = value.refused;
  const evidence = refused && refused.status < 300 ? [{ key: operation.key, came: refused, means: 'refused' } as const] : [];
  return { answers, effects, finding: value.underNew.length > 0 ? 'refusal-kept' : 'refusal-released', evidence, seen: { own: [last] } };
}

/** Sends work that fails once, then `payload` under the same key. */
async function afterFault(bench: Bench, operation: ProbeOperation, payload: 'fails-once' | 'changed') {
  return bench.counting(async () => {
    const failed = await bench.send(operation, { payload: 'fails-once' });
    if (failed && failed.status < 500) throw new NotTried(`the work should have failed, but the server answered ${failed.status}`);
    return [failed, ...(await bench.insist(operation, { payload }))];
  });
}

/** Work that fails once. */
export async function passingFault(bench: Bench): Promise<Found> {
  const operation = bench.operation();
  const { value: answers, effects } = await afterFault(bench, operation, 'fails-once');
  const last = answers.at(-1);
  const finding = judge(bench, { key: operation.key, last, effects });
  const done = ['replays', 'replays-marked'].includes(finding);
  // The copy did the work: a header that marks it, too, marks no replays.
  const seen = done && last ? { own: [last] } : undefined;
  return { answers, effects, seen, finding: done ? 'fault-released' : finding === 'never-done' && last && last.status >= 500 ? 'stored-fault' : finding };
}

/** Work that fails once, and then another payload. */
export async function changedAfterFault(bench: Bench): Promise<Found> {
  const operation = bench.operation();
  const { value: answers, effects } = await afterFault(bench, operation, 'changed');
  const last = answers.at(-1);
  if (effects !== undefined && effects > 1) return { answers, effects, finding: 'doubles' };
  if (!last) return { answers, effects, finding: 'no-answer' };
  if (isSuccess(last)) return { answers, effects, finding: effects === 0 ? 'false-success' : 'fault-forgets-payload' };
  const refuses = isRefusal(last) && !bench.saysLater(last, operation.key);
  return { answers, effects, finding: refuses ? 'refuses-payload' : judge(bench, { key: operation.key, last, effects }) };
}

/** A refused login, before and after. */
export async function refusedLogin(bench: Bench): Promise<Found> {
  const operation = bench.operation();
  const { value: answers, effects } = await bench.counting(async () => {
    const before = await bench.send(operation, { login: 'refused' });
    if (before && isSuccess(before)) throw new NotTried('the server accepted the login that it should have refused');
    const own = await bench.insist(operation);
    return [before, ...own, await bench.send(operation, { login: 'refused' }), ...(await bench.insist(operation))];
  });
  const after = answers.at(-2);
  const last = answers.at(-1);
  const finding = judge(bench, { key: operation.key, last, effects });
  if (finding === 'doubles' || finding === 'false-success') return { answers, effects, finding };
  if (after && isSuccess(after)) return { answers, effects, finding: 'login-leaks' };
  return { answers, effects, finding: last && isSuccess(last) ? 'login-first' : 'login-burns' };
}

/** Whether the second request got the first one's answer. After two effects there are two answers, even if their texts are equal. */
const sameAnswer = (bench: Bench, key: string, effects: number | undefined, one: Came, other: Came): boolean =>
  isSuccess(other) && (isMarked(bench, other, key) || (effects !== 2 && one.text !== '' && one.text === other.text));

/** The same key at another path. */
export async function otherPath(bench: Bench): Promise<Found> {
  const operation = bench.operation();
  const { value: answers, effects } = await bench.counting(async () => {
    // Without another path, send nothing at all.
    if (!bench.target.elsewhere) throw new NotTried('no other path was given');
    return [await bench.send(operation), await bench.send(operation, { elsewhere: true })];
  });
  const [one, other] = answers;
  if (!one || !other) return { answers, effects, finding: 'no-answer' };
  if (sameAnswer(bench, operation.key, effects, one, other)) return { answers, effects, finding: 'ignores-path' };
  return { answers, effects, finding: isSuccess(other) ? 'per-path' : 'refuses-path' };
}

/** The same key by another account. */
export async function otherAccount(bench: Bench): Promise<Found> {
  const operation = bench.operation();
  const { value: answers, effects } = await bench.counting(async () => {
    const one = await bench.send(operation);
    return [one, await bench.send(operation, { login: 'other' })];
  });
  const [one, other] = answers;
  if (!one || !other) return { answers, effects, finding: 'no-answer' };
  if (sameAnswer(bench, operation.key, effects, one, other)) return { answers, effects, finding: 'account-leak' };
  return { answers, effects, finding: isSuccess(other) ? 'per-account' : 'refuses-account' };
}
