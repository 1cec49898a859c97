/** The table of the stores on Cloudflare, whose databases are SQLite. */
import type { ScanPage, ScanQuery } from '../../ports.js';
import { StoreFault } from '../fault.js';
import { onlyOptions } from '../only-options.js';
import { dueOf, ordered, pageOfPlaces, rangeOf, recordOf } from '../text.js';

/** Which table the records are in. */
export interface CloudflareTable {
  /** Letters, digits and `_`, beginning with a letter. @default 'oncefetch_records' */
  readonly table?: string | undefined;
}

/** The table's name. Throws a TypeError on anything but a plain name, so that it can be put into SQL. */
export function nameOf(options: CloudflareTable, where = 'd1Store', known: Readonly<Record<string, string>> = { timeoutMs: 'number' }): string {
  onlyOptions(where, options, { table: 'string', ...known });
  const { table = 'oncefetch_records' } = options;
  if (!/^[A-Za-z]\w{0,99}$/.test(table)) throw new TypeError("once: table must be letters, digits and '_', beginning with a letter");
  return table;
}

type Value = string | number | null;
export type Rows = readonly Readonly<Record<string, unknown>>[];

/** One page of a scan. Text columns other than `rev` and `data` are `ordered`. */
export async function scanTable(table: string, query: ScanQuery, rows: (sql: string, ...values: Value[]) => Rows | Promise<Rows>): Promise<ScanPage> {
  if ('before' in query) {
    const due = `SELECT data FROM ${table} WHERE forget_at < ? ORDER BY forget_at LIMIT ? OFFSET ?`;
    return dueOf(async (offset, count) => (await rows(due, query.before, count, offset)).map(({ data }) => recordOf(data)), query);
  }
  const { label, id, end } = rangeOf(query);
  const page = `SELECT id, label, data FROM ${table} WHERE ns = ? AND state = ? AND (label, id) > (?, ?) AND label < ? ORDER BY label, id LIMIT ?`;
  const found = await rows(page, ordered(query.ns), ordered(query.state), label, id, end, query.limit + 1);
  return pageOfPlaces(
    found.map((row) => ({ label: String(row['label']), id: String(row['id']), record: recordOf(row['data']) })),
    query,
  );
}

/** The database's error as a StoreFault. Only its message tells the reason. */
export function cloudflareFault(scope: string, thrown: unknown): StoreFault {
  if (thrown instanceof StoreFault) return thrown;
  const says = String((thrown as { message?: unknown } | undefined)?.message ?? thrown);
  // Tested first: the message about a reset may say "exceeded" too, but of another limit than that of storage.
  const reason = /overloaded|SQLITE_BUSY|\breset\b/i.test(says)
    ? 'blocked'
    : /SQLITE_(FULL|TOOBIG)|too big|exceeded/i.test(says)
      ? 'quota'
      : /SQLITE_(CORRUPT|NOTADB)/.test(says)
        ? 'corrupt'
        : 'io';
  return new StoreFault(reason, `${scope} failed: ${says}`, thrown);
}
