/**
 * For each server, the parts that keep a second copy of a request out, and how to remove them: pieces of source with
 * their replacements.
 */
import type { Fault } from './wire.ts';

/** Replacements, in order. Each `from` must be in the source exactly once. */
export type Edits = readonly (readonly [from: string, to: string])[];

/** The number of operations of a run without a part. The run ends as soon as it has shown the failure. */
const OPERATIONS = 60;
/** How often a run presses for an operation that may be stuck. */
const PRESSES_MAX = 8;

/** What a run without the part shows: a second effect, an outcome that the database contradicts, an operation that never ends, or nothing. */
export type Turns = 'doubles' | 'lies' | 'sticks' | 'nothing';

export interface Part {
  readonly turns: Turns;
  readonly edits: Edits;
  /** The faults that the operations meet, if not all of them. */
  readonly plan?: readonly Fault[];
}

const doubles = (...edits: Edits): Part => ({ turns: 'doubles', edits });
const lies = (...edits: Edits): Part => ({ turns: 'lies', edits });
const sticks = (...edits: Edits): Part => ({ turns: 'sticks', edits });
const nothing = (...edits: Edits): Part => ({ turns: 'nothing', edits });

/** The server dies in the middle of a charge in one operation of ten, and there are no other faults. */
const DIES: readonly Fault[] = [...Array.from({ length: 9 }, () => 'none' as const), 'kill-before-commit'];

/** Removes the transaction: every statement commits by itself, and the server may die before `second`. */
const apart = (turns: Turns, second: string): Part => ({
  turns,
  plan: DIES,
  edits: [
    [', transaction }', ', apart as transaction }'],
    ['beforeCommit();', ''],
    [second, `beforeCommit(); ${second}`],
  ],
});

/** The parts, by scheme and name. */
export const PARTS: Readonly<Record<string, Readonly<Record<string, Part>>>> = {
  'idempotency-keys': {
    key: doubles(['if (take.run(key, text, boot).changes === 0) {', 'if (take.run(key, text, boot).changes > 1) {']),
    owner: doubles([' AND boot <> ?', ' AND ? IS NOT NULL']),
    'take-over': { ...sticks(['if (takeOver.run(boot, key, boot).changes === 0)', '']), plan: DIES },
    transaction: apart('doubles', 'store.run(JSON.stringify'),
  },
  'duplicate-filter': {
    table: doubles([' || look.get(id)', ''], ['request_id TEXT PRIMARY KEY', 'request_id TEXT']),
    transaction: apart('doubles', 'see.run(id, made);'),
    'look-up': sticks(['look.get(asked) ? answer(200, look.get(asked)) : NOT_FOUND', 'NOT_FOUND']),
    lock: nothing(["'NX')) === null ||", "'NX')) === '' ||"]),
  },
  'unique-constraint': { constraint: doubles([' UNIQUE', ''], [' ON CONFLICT (order_id) DO NOTHING', '']) },
  'optimistic-version': {
    version: doubles(['AND version = ?', 'AND ? IS NOT NULL']),
    'look-up': lies(['find.get(account, changeId) ? answer(200, find.get(account, changeId)) : NOT_FOUND', 'NOT_FOUND']),
    transaction: apart('lies', "log.run(account, json['version'] ?? 0"),
  },
  'operation-log': {
    'transfer-id': doubles(['transfer_id TEXT PRIMARY KEY', 'transfer_id TEXT'], [' ON CONFLICT (transfer_id) DO NOTHING', '']),
    transaction: apart('lies', "post.run(transferId, order, 'customer'"),
  },
  'one-time-token': {
    'used-up': doubles(["if (found.payment !== null) return answer(409, { code: 'TOKEN_USED' });", '']),
    'used-first': lies(['if (found.payment !== null)', 'if (found.payment !== null && found.expires >= Date.now())']),
    transaction: apart('doubles', 'use.run(made, token);'),
    'look-up': sticks(['if (asked) return answer(200, look.get(asked));', 'if (asked) return NOT_FOUND;']),
  },
  'etag-if-match': { condition: doubles(['WHERE id = ? AND version = ?', 'WHERE id = ? AND ? IS NOT NULL']) },
  'message-outbox': {
    inbox: doubles(["if (take.run(json['messageId'] ?? '').changes === 0) return;", ''], ['outbox (event_id TEXT PRIMARY KEY', 'outbox (event_id TEXT']),
    'event-ids': doubles(["if (heard.run(json['eventId'] ?? '').changes === 0) return;", '']),
    outbox: lies(['tell.run(', 'String(']),
  },
  'select-then-insert': { isolation: doubles(['BEGIN ISOLATION LEVEL SERIALIZABLE', 'BEGIN']) },
  'state-machine': { state: doubles(["WHERE id = ? AND state = 'open'", 'WHERE id = ?']), transaction: apart('lies', 'charge.run(id);') },
  'dedup-table': { 'primary-key': doubles(['key TEXT PRIMARY KEY', 'key TEXT']), transaction: apart('doubles', 'mark.run(key, made);') },
  'pessimistic-lock': { lock: doubles([' FOR UPDATE', '']), look: doubles(['if (rows[0].payment !== null) return rows[0].payment as number;', '']) },
  'distributed-lock': {
    fence: doubles(["if (current.get(order)?.['number'] !== number) return undefined;", '']),
    look: doubles(['if (paid) return answer(200, { payment: paid.id });', '']),
    lock: nothing(['!== null;', '!== undefined;']),
  },
  'accepted-status': {
    key: doubles(['(key TEXT PRIMARY KEY,', '(key TEXT,']),
    finish: doubles([" AND status = 'running'\")", '")']),
    transaction: lies(
      [', transaction }', ', apart as transaction }'],
      ['if (!failed) make.run(operation);', "if (operation === 'o-8') for (;;) process.kill(process.pid, 'SIGKILL'); if (!failed) make.run(operation);"],
    ),
  },
  'query-after-timeout': {
    'valid-until': doubles(["if (Date.now() > Number(headers['x-valid-until'])) return undefined;", '']),
    'look-up': doubles(['found: look.get(asked) ?? null', 'found: null']),
  },
  'webhook-events': {
    'event-ids': doubles(['if (take.run(String(id)).changes === 0) return;', '']),
    transaction: apart('lies', "credit.run(json['order'] ?? '');"),
  },
  'snowflake-ids': { 'primary-key': doubles(['id bigint PRIMARY KEY', 'id bigint'], [' ON CONFLICT (id) DO NOTHING', '']) },
};

/** The options of a run without the part. Throws if the scheme has no part of this name. */
export function runWithout(scheme: string, part: string) {
  const found = PARTS[scheme]?.[part];
  if (!found) throw new Error(`${scheme} has no part ${part}: ${Object.keys(PARTS[scheme] ?? {}).join(', ')}`);
  const { turns, edits, plan } = found;
  return { operations: OPERATIONS, edits, plan, endsAt: turns, ...(turns === 'sticks' && { pressesMax: PRESSES_MAX }) };
}
