/** Rows that send copies of one request. Whatever happens, the copies must have one effect. */
import { isRefusal, isSuccess } from './answers.js';
import { type Bench, sleep } from './bench.js';
import type { Evidence } from './evidence.js';
import { isMarked, judge, judgeTogether } from './judge.js';
import { type Came, NotTried } from './request.js';
import type { Found } from './row.js';

const COPIES = 10;

/** One request under a new key. */
export async function first(bench: Bench): Promise<Found> {
  const operation = bench.operation();
  const { value: answers, effects } = await bench.counting(async () => {
    const started = performance.now();
    const answered = await bench.send(operation);
    bench.learnt.workMs = Math.ceil(performance.now() - started);
    bench.learnt.accepts = answered?.status === 202;
    return answered && bench.saysBusy(answered, operation.key) ? [answered, ...(await bench.insist(operation))] : [answered];
  });
  const [came] = answers;
  const last = answers.at(-1);
  const found = { answers, effects };
  if (!came) return { ...found, finding: 'no-answer', because: bench.failure };
  if (isMarked(bench, came, operation.key) && came.status < 500) return { ...found, finding: 'marked-first' };
  if (effects !== undefined && effects > 1) return { ...found, finding: 'sent-again' };
  if (last && last !== came && isSuccess(last) && effects !== 0)
    return { ...found, finding: 'called-copy', evidence: [{ key: operation.key, came: last, means: 'done' }] };
  if (effects === 0 || (effects === undefined && !isSuccess(came))) return { ...found, finding: 'no-effect' };
  if (came.status >= 500) return { ...found, finding: 'fault-with-effect' };
  if (!isSuccess(came)) return { ...found, finding: bench.saysLater(came, operation.key) ? 'busy-for-ever' : 'refused-with-effect' };
  return { ...found, finding: 'works', evidence: [{ key: operation.key, came, means: 'first' }], seen: { own: [came] } };
}

/** The successes before and after the effect. With another number of effects than one, nothing tells for which of them the work was done. */
function seenOf(own: Came | undefined, copy: Came | undefined, effects: number | undefined): Found['seen'] {
  if (effects !== 1 || !copy || !isSuccess(copy)) return undefined;
  return { own: own && isSuccess(own) ? [own] : [], copies: [copy] };
}

/** The same key twice, one after the other. */
export async function again(bench: Bench): Promise<Found> {
  const operation = bench.operation();
  const { value, effects } = await bench.counting(async () => {
    const started = performance.now();
    const one = await bench.send(operation);
    bench.quickestMs = performance.now() - started;
    return [one, ...(await bench.insist(operation))];
  });
  const one = value[0];
  const last = value.at(-1);
  const finding = judge(bench, { key: operation.key, first: one, last, effects });
  const means: Evidence['means'] = last && isRefusal(last) ? 'done-before' : 'again';
  const evidence = last && effects === 1 ? [{ key: operation.key, came: last, means }] : [];
  return { answers: value, effects, finding, evidence, seen: seenOf(one, last, effects) };
}

/** Ten copies at once. */
export async function atOnce(bench: Bench): Promise<Found> {
  const operation = bench.operation();
  const answers: (Came | undefined)[] = [];
  const { value: later, effects } = await bench.counting(async () => {
    await Promise.all(Array.from({ length: COPIES }, async () => answers.push(await bench.send(operation))));
    return bench.insist(operation);
  });
  const last = later.at(-1);
  const { key } = operation;
  const finding = last ? judgeTogether(bench, answers, { key, last, effects }) : 'no-answer';
  // If the operation was done in the end, the refusals that copies got meanwhile meant "in progress".
  const busy = last && isSuccess(last) ? answers.filter((came) => came !== undefined && (isRefusal(came) || (came.status === 202 && last.status !== 202))) : [];
  return { answers: [...answers, ...later], effects, finding, evidence: busy.map((came) => ({ key, came: came as Came, means: 'in-progress' })) };
}

/** Sends the same key again after `breaking`, which sends the first copy and loses its answer. */
async function afterBreak(bench: Bench, breaking: (operation: ReturnType<Bench['operation']>) => Promise<Came | undefined>): Promise<Found> {
  const operation = bench.operation();
  const { value, effects } = await bench.counting(async () => [await breaking(operation), ...(await bench.insist(operation))]);
  return { answers: value, effects, finding: judge(bench, { key: operation.key, last: value.at(-1), effects }) };
}

/** The answer cut off after the commit. */
export async function answerCut(bench: Bench): Promise<Found> {
  const found = await afterBreak(bench, (operation) => bench.sendInto({ kind: 'cut-answer' }, operation));
  return { ...found, seen: seenOf(undefined, found.answers.at(-1), found.effects) };
}

/** The connection reset while the work goes on. */
export const reset = (bench: Bench): Promise<Found> => afterBreak(bench, (operation) => bench.sendInto({ kind: 'reset', afterMs: bench.halfwayMs }, operation));

/** The server killed in mid-work. */
export const killed = (bench: Bench): Promise<Found> => {
  const { restart } = bench.target;
  if (!restart) throw new NotTried('nothing here can kill the server');
  return afterBreak(bench, async (operation) => {
    const answer = bench.send(operation);
    await sleep(bench.halfwayMs);
    await restart();
    return answer;
  });
};

/** The same key again, after a wait. */
export async function afterWait(bench: Bench): Promise<Found> {
  const { afterMs } = bench.times;
  if (afterMs === undefined) throw new NotTried('no wait was given');
  const operation = bench.operation();
  const { value, effects } = await bench.counting(async () => {
    const one = await bench.send(operation);
    await sleep(afterMs);
    return [one, ...(await bench.insist(operation))];
  });
  return { answers: value, effects, finding: judgeWait(bench, operation.key, value, effects) };
}

/** Judges the row that waits. `answers`: the first one came before the wait. */
export function judgeWait(bench: Bench, key: string, answers: readonly (Came | undefined)[], effects: number | undefined): Found['finding'] {
  const finding = judge(bench, { key, first: answers[0], last: answers.at(-1), effects });
  if (finding === 'doubles') return 'forgets';
  return ['replays', 'replays-marked', 'answers-anew', 'other-status'].includes(finding) ? 'remembers' : finding;
}
