/** Goal: a record has only the members of its state. Method: the compiler must reject each line under `@ts-expect-error`. */
import type { Ending } from '../../../src/core/outcome.js';
import { type EndedRecord, type OnceRecord, type PendingRecord, seal } from '../../../src/core/record.js';

declare const record: OnceRecord;
declare const pending: PendingRecord;
declare const ended: EndedRecord;
declare const ending: Ending;

// @ts-expect-error a pending record has no end
const early: Ending = pending.ending ?? pending.answer;
// @ts-expect-error a record that has ended waits for nothing
const late: number = ended.retryAt ?? 0 + ended.spentAt;
// @ts-expect-error a pending record is not sealed with an end
const sealed: OnceRecord = seal({ ...pending, ending });
// @ts-expect-error the state of the record must be checked first
const driven: PendingRecord = record;

const asked: PendingRecord | undefined = record.state === 'pending' ? record : undefined;
const settled: EndedRecord = seal({ ...ended, state: 'settled', ending });
void [early, late, sealed, driven, asked, settled];
