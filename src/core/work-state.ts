/** What the status document of a job says of the job, in members and words that many services share. */

export type WorkState = 'running' | 'done' | 'failed';

const FAILED = /^(failed|failure|errored|error|cancell?ed|rejected|aborted|declined|denied)$/;
const DONE = /^(succeeded|successful|completed?|done|finished|ready)$/;
/** A state that will change, or that does not say whether the work has had its effect. */
const RUNNING =
  /^(not_?started|new|pending|(en)?queued|scheduled|submitted|received|accepted|waiting|start(ed|ing)|initiali[sz]ing|preparing|running|in_?progress|processing|working|executing|retrying|paused|suspended|creating|updating|deleting|provisioning|cancell?ing|cancel_?(requested|in_?progress)|timed_?out|timeout|expired|unknown)$/;
/** An envelope's word for "your request was understood": the job is inside. */
const ENVELOPE = /^(success|ok)$/;
const INSIDE = ['data', 'attributes', 'properties', 'response', 'job', 'operation', 'task'] as const;
const DEPTH_MAX = 3;

type Members = Readonly<Record<string, unknown>>;

const inside = (json: Members, depth: number): WorkState | undefined => {
  for (const name of INSIDE) {
    const found = workState(json[name], depth + 1);
    if (found) return found;
  }
  return undefined;
};

/** Whether a document says that something went wrong, whatever it was. */
export function tellsOfError(json: unknown): boolean {
  const { error, errors, status, success, ok } = (json ?? {}) as Members;
  // Some APIs have an empty one in every answer.
  const wrong = typeof error === 'object' ? Object.keys(error ?? {}).length > 0 : Boolean(error);
  return wrong || success === false || ok === false || (Array.isArray(errors) && errors.length > 0) || /^(fail|error)$/i.test(String(status));
}

/** The outermost state counts. `undefined` when the document has none that is known. */
export function workState(json: unknown, depth = 0): WorkState | undefined {
  if (typeof json !== 'object' || json === null || depth > DEPTH_MAX) return undefined;
  const { done, name, kind, error, message, id, status, state, provisioningState } = json as Members;
  // google.longrunning.Operation; its JSON leaves out a `done` that is false.
  if (typeof done === 'boolean' || (typeof name === 'string' && /(^|\/)operations\//.test(name))) return done ? (error ? 'failed' : 'done') : 'running';
  // Kubernetes and Dataproc: status.state.
  if (typeof status === 'object' && status !== null) return workState(status, depth + 1);
  const said = [status, state, provisioningState].find((one) => typeof one === 'string') as string | undefined;
  const word = said?.trim().replace(/[\s-]/g, '_').toLowerCase() ?? '';
  // JSend: the request for the state failed, and the job may be well.
  if (word === 'fail' || (word === 'error' && typeof message === 'string' && id === undefined && error === undefined)) return 'running';
  if (FAILED.test(word)) return 'failed';
  if (RUNNING.test(word) || (said === provisioningState && said !== undefined && !DONE.test(word))) return 'running';
  if (DONE.test(word)) {
    if (!error) return 'done';
    // Compute Engine is done with what has failed, too.
    return typeof kind === 'string' && /#operation$/.test(kind) ? 'failed' : 'running';
  }
  const job = inside(json as Members, depth);
  if (job) return job;
  // The question failed, or the work did: nothing tells which.
  if (tellsOfError(json)) return 'running';
  return ENVELOPE.test(word) ? 'done' : undefined;
}
