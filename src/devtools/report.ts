/** The panel's data for a bug report: without bodies, headers, addresses and whole keys, and without names unless the developer asks for them. */
import { explain } from 'oncefetch';
import type { OnceRecord } from '../core/record.js';
import type { Client } from '../engine/client.js';
import { labelOf } from './reading.js';
import type { Row } from './rows.js';
import type { Stored } from './stored.js';
import type { Step, Timeline } from './timeline.js';

/** The most operations in a report. */
const OPERATIONS_MAX = 200;
/** How many characters of a random key are shown. */
const KEY_CHARS = 4;

const at = (ms: number | undefined): string | undefined => (ms === undefined ? undefined : new Date(ms).toISOString());

function reportStep(step: Step): object {
  const common = { at: at(step.at), where: step.where, is: step.is };
  switch (step.is) {
    case 'attempt': {
      const { attempt, evidence } = step;
      if (!evidence) return { ...common, attempt };
      const { status, ms, faults, reading } = evidence;
      return { ...common, attempt, status, ms, faults, readAs: labelOf(reading) };
    }
    case 'wait':
      return { ...common, why: step.why, until: at(step.until) };
    case 'diagnostic':
      // Without the message, which may contain an address.
      return { ...common, code: step.code };
    default: {
      const { type, effect, attempts, sent, resumed, joined } = step.outcome;
      const reason = 'reason' in step.outcome ? step.outcome.reason : undefined;
      return { ...common, type, effect, reason, attempts, sent, resumed, joined, summary: explain(step.outcome).summary };
    }
  }
}

/** The beginning of a random key. Not of a derived one: it is computed from the name, so its beginning would let somebody find the name by trying. */
const reportKey = (key: string, record: OnceRecord | undefined): string | undefined =>
  record?.random ? `${key.slice(0, KEY_CHARS)}…` : key && record ? 'derived' : undefined;

function reportRecord(record: OnceRecord): object {
  const { v, state, dialect, generation, revision, ambiguous, random, payloads, request, meta, ending, sticky, keyInUse } = record;
  const times = {
    createdAt: at(record.createdAt),
    firstSentAt: at(record.firstSentAt),
    windowEndsAt: at(record.windowEndsAt),
    touchedAt: at(record.touchedAt),
  };
  const more = {
    retryAt: at(record.retryAt),
    forgetAt: at(record.forgetAt),
    payloads: payloads.length,
    request: request !== undefined,
    meta: meta !== undefined,
  };
  return { v, state, dialect, generation, revision, ambiguous, random, ...times, ...more, ending, sticky, keyInUse };
}

const reportClient = ({ settings, store, parts, closing }: Client, stored: Stored): object => ({
  dialect: settings.dialect.name,
  limits: settings.limits,
  durability: settings.required ? 'required' : 'best-effort',
  features: Object.keys(parts),
  hooks: (['verdict', 'reconcile', 'headers', 'onOutcome', 'fingerprint'] as const).filter((hook) => settings[hook] !== undefined),
  loggedIn: stored.namespace !== undefined,
  closed: closing.aborted,
  store: { kind: store.kind, survives: store.survives, shared: store.shared, atomic: store.atomic, damaged: stored.damaged },
});

/** The report as JSON. `names`: with the names of operations. */
export function reportOf(client: Client, stored: Stored, rows: readonly Row[], timeline: Timeline, names: boolean): string {
  const operations = rows.slice(0, OPERATIONS_MAX).map((row, n) => ({
    operation: names ? row.name : `operation ${n + 1}`,
    status: row.status,
    key: reportKey(row.key, row.record),
    storedIn: row.storedIn,
    record: row.record && reportRecord(row.record),
    steps: timeline.of(row.track).map(reportStep),
  }));
  const browser = globalThis.navigator?.userAgent;
  return JSON.stringify(
    { format: 'oncefetch/devtools 1', at: at(Date.now()), browser, client: reportClient(client, stored), left: rows.length - operations.length, operations },
    undefined,
    2,
  );
}
