/**
 * Messages between panels of one origin. Anything else that arrives (from another version, or from a script that is not ours) is
 * ignored: a step is accepted only if every part of it can be shown.
 */
import { explain, type Outcome } from 'oncefetch';
import type { Label } from '../core/ids.js';
import { decodeName, encodeName, isUnnamed } from '../core/name.js';
import type { FaultName } from './faults.js';
import { type Evidence, isKind } from './reading.js';
import type { Step, Where } from './timeline.js';

/** A message about one store (`scope`) and one user (`ns`, a digest). With `steps`, it tells other panels these; without, it asks them for theirs. */
export interface Message {
  readonly scope: string;
  readonly ns: string;
  /** The page or worker that sends it. */
  readonly realm: string;
  readonly worker: boolean;
  readonly steps?: readonly Step[] | undefined;
}

/** The most steps in one message. */
export const TOLD_MAX = 500;

type Fields<T> = { readonly [Name in keyof T]?: unknown };

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
const isText = (value: unknown): value is string => typeof value === 'string';
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
/** Whether a value can be shown as a date. */
const isTime = (value: unknown): value is number => isNumber(value) && !Number.isNaN(new Date(value).getTime());
const isFlag = (value: unknown): value is boolean => typeof value === 'boolean';

const FAULTS: readonly unknown[] = ['lose-answer', 'offline', 'slow'] satisfies FaultName[];

/** Whether this is a label in the package's own form, or the track of an operation without a name. */
function isTrack(track: unknown): track is string {
  if (!isText(track)) return false;
  try {
    return isUnnamed(track as Label) || encodeName(decodeName(track as Label)) === track;
  } catch {
    return false;
  }
}

/** Copies only the known members: an app's dialect may add others that can't be sent in a message. */
function evidenceOf(value: unknown): Evidence | undefined {
  if (!isObject(value)) return undefined;
  const { status, what, reading, ms, faults }: Fields<Evidence> = value;
  if (!isText(what) || !isNumber(ms) || !isObject(reading) || !Array.isArray(faults)) return undefined;
  const { kind, ambiguous, sticky, from }: Fields<Evidence['reading']> = reading;
  if (!isKind(kind) || !isFlag(ambiguous)) return undefined;
  return {
    status: isNumber(status) ? status : undefined,
    what,
    ms,
    faults: faults.filter((fault): fault is FaultName => FAULTS.includes(fault)),
    reading: { kind, ambiguous, sticky: sticky === true, from: from === 'application' || from === 'in-front' ? from : undefined },
  };
}

function isOutcome(value: unknown): value is Outcome {
  if (!isObject(value)) return false;
  const { effect, attempts, sent, resumed, joined }: Fields<Outcome> = value;
  if (!isText(effect) || !isNumber(attempts) || !isText(sent) || !isFlag(resumed) || !isFlag(joined)) return false;
  try {
    return !/undefined|\[object/.test(explain(value as Outcome).summary);
  } catch {
    return false;
  }
}

/** A plain copy of a step, for sending and for receiving; `undefined` if the value is not a step. */
export function plainStep(value: unknown, where?: Where): Step | undefined {
  if (!isObject(value)) return undefined;
  const { id, at, track, key, is, ...rest }: Fields<Step> = value;
  if (!isText(id) || !isTime(at) || !isTrack(track) || !isText(key)) return undefined;
  const about = { id, at, track, key, where };
  const { attempt, evidence, sentBefore, until, why, outcome, code, message } = rest as Readonly<Record<string, unknown>>;
  if (is === 'attempt' && isNumber(attempt)) return { ...about, is, attempt, evidence: evidenceOf(evidence), sentBefore: sentBefore === true };
  if (is === 'wait' && isText(why) && (until === undefined || isTime(until))) return { ...about, is, until, why };
  if (is === 'end' && isOutcome(outcome)) return { ...about, is, outcome };
  if (is === 'diagnostic' && isText(code) && isText(message)) return { ...about, is, code, message };
  return undefined;
}

/** Reads a message. `own`: the realm that reads it. */
export function readMessage(value: unknown, own: string): Message | undefined {
  if (!isObject(value)) return undefined;
  const { scope, ns, realm, worker, steps }: Fields<Message> = value;
  if (!isText(scope) || !isText(ns) || !isText(realm)) return undefined;
  const about = { scope, ns, realm, worker: worker === true };
  if (!Array.isArray(steps)) return steps === undefined ? about : undefined;
  const where = realm === own ? 'page' : about.worker ? 'worker' : 'tab';
  // A realm may send only its own steps.
  const taken = steps.slice(0, TOLD_MAX).flatMap((step) => plainStep(step, where) ?? []);
  return { ...about, steps: taken.filter(({ id }) => id.startsWith(`${realm} `)) };
}
