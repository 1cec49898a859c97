import { type EndedRecord, type OnceRecord, type PendingRecord, RECORD_VERSION, seal } from '../../src/core/record.js';
import { made } from './made.js';

/** When {@link aRecord} was written. */
export const NOW = 1_700_000_000_000;

/** What a test says of a record: members of any state, because some have to be wrong. */
export type LooseRecord = { readonly [Name in keyof OnceRecord]?: Name extends 'previous' ? OnceRecord | undefined : PendingRecord[Name] | EndedRecord[Name] };

/** Seals a record that a test makes up. */
export const sealed = <Kind extends OnceRecord = OnceRecord>(record: LooseRecord): Kind => seal(record as OnceRecord) as OnceRecord as Kind;

/** A record as an attempt without an answer leaves it: tests say what differs. */
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
