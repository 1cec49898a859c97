/** What a developer can do with an operation, and what each action means. */
import { forget, isOnceError, type Once, outcomeOf, resumeOne, settle } from 'oncefetch';
import type { Row } from './rows.js';

export interface Action {
  readonly id: 'resume' | 'settle-done' | 'settle-none' | 'forget';
  readonly label: string;
  /** What the action would mean, in words. */
  readonly means: string;
  /** The action may lead to a second effect, so it must be confirmed. */
  readonly risky: boolean;
  /** Why the action can't be done now; `undefined` if it can. */
  readonly refused: string | undefined;
  /** Does the action. Gives a text about the result. */
  run(once: Once): Promise<string>;
}

const NO_NAME = 'It has no name, and these functions find operations by their names.';
const BUSY = 'A call is working on it now.';

/** Whether the operation may have been sent. */
const maybeSent = ({ record }: Row): boolean => record?.state === 'pending' && (record.ambiguous || !record.random);

const resumeAction = (row: Row, refused: string | undefined, sends: boolean): Action => ({
  id: 'resume',
  label: 'Resume',
  means: sends
    ? 'Sends its request again, under the same key. The server does the work at most once.'
    : 'Nothing is sent, because no request is here or its key is too old: reconcile is asked.',
  risky: false,
  refused,
  run: async (once) => `Resumed: ${outcomeOf(await resumeOne(once, row.operation))?.effect ?? 'answered'}.`,
});

const settleActions = (row: Row, refused: string | undefined): readonly Action[] => [
  {
    id: 'settle-done',
    label: 'Settle as done',
    means: 'You know that it took effect. From now on calls with this name send nothing and say that it is done.',
    risky: false,
    refused,
    run: async (once) => {
      await settle(once, row.operation, 'done');
      return 'Settled: done.';
    },
  },
  {
    id: 'settle-none',
    label: 'Settle as none',
    means: 'You know that it had no effect and that none can follow. The next call gets a new key: if you are wrong, it takes effect a second time.',
    risky: true,
    refused,
    run: async (once) => {
      await settle(once, row.operation, 'none');
      return 'Settled: no effect.';
    },
  },
];

const forgetAction = (row: Row, refused: string | undefined): Action => ({
  id: 'forget',
  label: 'Forget',
  means:
    row.status === 'done'
      ? 'It is done. The next call with this name is another operation, and takes effect a second time.'
      : maybeSent(row)
        ? 'The next call with this name is another operation, under another key. This one may have been sent: it can then take effect a second time.'
        : 'The next call with this name is another operation, under another key.',
  risky: maybeSent(row) || row.status === 'done',
  refused,
  run: async (once) => {
    await forget(once, row.operation, { evenIfUnknown: true });
    return 'Forgotten.';
  },
});

/** The actions for a row. `sends`: this page can send the operation's request again. */
export function actionsOf(row: Row, sends: boolean): readonly Action[] {
  const busy = row.status === 'sending' || row.status === 'waiting' || row.status === 'elsewhere';
  const refused = row.operation.length === 0 ? NO_NAME : busy ? BUSY : undefined;
  if (row.status === 'forgotten' || row.status === 'gone') return [];
  if (row.status === 'done') return [forgetAction(row, refused)];
  // No actions for an operation that ended without an effect, because its key may still be in use.
  if (row.status === 'none') return [];
  return [resumeAction(row, refused, sends), ...settleActions(row, refused), forgetAction(row, refused)];
}

/** The message of an error, without its other members. */
export const errorSays = (error: unknown): string =>
  isOnceError(error) ? `${error.code}: ${error.message}` : error instanceof Error ? error.message : String(error);
