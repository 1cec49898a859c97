import { type EndedRecord, type OnceRecord, type PendingRecord, RECORD_VERSION, seal } from '../../src/core/record.js';
import { made } from './made.js';

/** The time at which {@link aRecord} was written. */
export const NOW = 1_700_000_000_000;

/** Fields of a record in a test. Fields of all states are allowed together, because some tests need wrong records. */
export type LooseRecord = { readonly [Name in keyof OnceRecord]?: Name extends 'previous' ? OnceRecord | undefined : PendingRecord[Name] | EndedRecord[Name] };

/** Seals a record that a test makes up. */
export const sealed = <Kind extends OnceRecord = OnceRecord>(record: LooseRecord): Kind => seal(record as OnceRecord) as OnceRecord as Kind;

/** A record as an attempt without an answer leaves it. Tests override what differs. */
export const aRecord = (more: LooseRecord = {}): OnceRecord =>
  sealed({
    v: RECORD_VERSION,
    id: made('id'),
    ns: made('ns'),
    label: made('["pay"]'),
    state: 'pending',
    forgetAt: NOW,
    key: made('k'),
    carrier: '',
    dialect: '',
    origin: '',
    random: true,
    generation: 0,
    revision: 1,
    ambiguous: true,
    scheme: '',
    payloads: [],
    raw: '',
    createdAt: NOW,
    touchedAt: NOW,
    ...more,
  });
