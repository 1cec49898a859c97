/** Reads the status document of a job, by members and words that many services share. */

export type WorkState = 'running' | 'done' | 'failed';
/** `doubtful`: something went wrong, but perhaps not the work itself. Only somebody who knows the service can tell. */
type DocumentState = WorkState | 'doubtful';

const FAILED = /^(failed|failure|errored|error|cancell?ed|rejected|aborted|declined|denied|refused|unsuccessful)$/;
const DONE = /^(succeeded|successful|completed?|done|finished|ready)$/;
/** A state that will change, or that does not say whether the work has had its effect. */
const RUNNING =
  /^(not_?started|new|pending|(en)?queued|scheduled|submitted|received|accepted|waiting|start(ed|ing)|initiali[sz]ing|preparing|running|in_?progress|processing|working|executing|retrying|paused|suspended|creating|updating|deleting|provisioning|cancell?ing|cancel_?(requested|in_?progress)|timed_?out|timeout|expired|un(known|defined)|none|nil|null|false)$/;
/** A word of the service's own for what is still to come: `pending_review`, `action_required`, `CREATE_IN_PROGRESS`, `finalizing`. */
const TO_COME = /^(?=\w+$)(not_|.*(pending|require|wait|draft|blocked|incomplete|on_?hold|held$|review($|_)|progress|initiated$|requested$|ing$))/;
/** A word of the service's own that speaks of a failure, but may not be about the effect: `CREATE_FAILED`, `notification_failed`. */
const WENT_WRONG =
  /^(?=\w+$).*(fail|error|declin|refus|reject|denied|cancel|abort|terminat|revok|interrupt|skipped|stopped|void|unpaid|invalid|roll(ed)?_?back)/;
/**
 * Parts of a word that look like one of those, but mean something harmless: `unblocked`, `preview_ready`, `completed_without_errors`. They are
 * removed before the test, because Safari 16.3 has no look-behind to exclude them.
 */
const HARMLESS = /unblocked|preview|trialing|existing|(without|no)_error|avoid/g;
/** Words by which an envelope says that the request for the status succeeded. The job's own state is inside the envelope. */
const ENVELOPE = /^(success|ok)$/;
const INSIDE = ['data', 'attributes', 'properties', 'response', 'job', 'operation', 'task'] as const;
const DEPTH_MAX = 3;

type Members = Readonly<Record<string, unknown>>;

const inside = (json: Members, depth: number): DocumentState | undefined => {
  for (const name of INSIDE) {
    const found = documentState(json[name], depth + 1);
    if (found) return found;
  }
  return undefined;
};

/** Whether a document reports an error of any kind. */
export function tellsOfError(json: unknown): boolean {
  const { error, errors, status, success, ok } = (json ?? {}) as Members;
  // Some APIs have an empty `error` object in every answer.
  const wrong = typeof error === 'object' ? Object.keys(error ?? {}).length > 0 : Boolean(error);
  return wrong || success === false || ok === false || (Array.isArray(errors) && errors.length > 0) || /^(fail|error)$/i.test(String(status));
}

/** The state of the job. A doubtful one counts as running, so that it is asked for again. */
export function workState(json: unknown): WorkState | undefined {
  const state = documentState(json);
  return state === 'doubtful' ? 'running' : state;
}

/** The state of the job: the outermost one in the document; `undefined` if it contains no known one. */
export function documentState(json: unknown, depth = 0): DocumentState | undefined {
  if (typeof json !== 'object' || json === null || depth > DEPTH_MAX) return undefined;
  const { done, name, kind, error, message, id, status, state, provisioningState } = json as Members;
  const stateText = [status, state, provisioningState].find((one) => typeof one === 'string') as string | undefined;
  const clean = stateText?.replace(/[".…!]/g, '').trim();
  const word = clean?.replace(/[\s-]/g, '_').toLowerCase() ?? '';
  const judged = word.replace(HARMLESS, '');
  const goesOn = RUNNING.test(word) || TO_COME.test(judged);
  // google.longrunning.Operation. Its JSON leaves `done` out while it is false. Elsewhere, `done` may only mean that the job has ended.
  if (typeof done === 'boolean' || (typeof name === 'string' && /(^|\/)operations\//.test(name))) {
    if (!done || goesOn) return 'running';
    return tellsOfError({ error }) || FAILED.test(word) ? 'failed' : WENT_WRONG.test(judged) || tellsOfError(json) ? 'doubtful' : 'done';
  }
  // Kubernetes and Dataproc: status.state.
  if (typeof status === 'object' && status !== null) return documentState(status, depth + 1);
  // JSend: the request for the status failed, which says nothing about the job.
  if (word === 'fail' || (word === 'error' && typeof message === 'string' && id === undefined && error === undefined)) return 'running';
  if (FAILED.test(word)) return 'failed';
  if (goesOn || (stateText === provisioningState && stateText !== undefined && !DONE.test(word))) return 'running';
  if (WENT_WRONG.test(judged)) return 'doubtful';
  if (DONE.test(word)) {
    if (!tellsOfError(json)) return 'done';
    // Compute Engine says DONE even if the operation failed. Elsewhere, done with an error is unclear: ask again.
    return typeof kind === 'string' && /#operation$/.test(kind) ? 'failed' : error ? 'running' : 'doubtful';
  }
  const job = inside(json as Members, depth);
  if (job) return job === 'done' && tellsOfError(json) ? 'doubtful' : job;
  // Either the request for the status failed or the work did; nothing tells which.
  if (tellsOfError(json)) return 'running';
  return ENVELOPE.test(word) ? 'done' : undefined;
}
