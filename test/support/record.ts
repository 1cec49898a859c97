import { type OnceRecord, RECORD_VERSION, seal } from '../../src/core/record.js';
import { made } from './made.js';

/** When {@link aRecord} was written. */
export const NOW = 1_700_000_000_000;

/** A record as an attempt without an answer leaves it: tests say what differs. */
export const aRecord = (more: Partial<OnceRecord> = {}): OnceRecord =>
  seal({
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
