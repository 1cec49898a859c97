/** The SQL of the PostgreSQL store: its migration and its statements. */
import { onlyOptions } from '../only-options.js';

/**
 * The schema version that this code reads and writes. It is in the table's comment. Processes of older versions may be at work while a
 * migration upgrades the table, and look at the comment only once. So a migration to a newer schema must also rename a column that all their
 * statements name, such as `rev`: then these fail. It must not rename the table, because an older migration would make it again, empty.
 */
export const SCHEMA_VERSION = 1;
/** PostgreSQL silently truncates names to 63 bytes, and an index's name is up to 6 bytes longer than the table's. */
const NAME_BYTES_MAX = 57;
/** The number of our advisory lock: one that other programs will hardly use for theirs. */
const LOCK = 7_241_630_915;
/** How many characters of a label are in the index, whose keys must be shorter than 2.7 kB. */
const LABEL_START = 256;
/**
 * The longest time that a statement waits for a locked row, ms. Then it fails and gives its connection back, and the call tries again.
 */
export const LOCK_MS_MAX = 1000;
/** The longest time that a migration waits for another one, ms, unless its connection has a `lock_timeout`. */
const MIGRATION_MS_MAX = 10_000;
/** A call with less time left than this does not share a statement with others, ms: if it came too late, their work would be undone too. */
const SHARES_MS_MIN = 100;

/** The columns of the indexes, by the ends of the indexes' names. */
const INDEXES = { place: `(ns, state, left(label, ${LABEL_START}))`, time: '(forget_at)' };
/** Dollar quotes around the migration, so that the quotes in it need no escaping. */
const BODY = '$oncefetch$';

/** Which table the records are in. */
export interface PostgresTable {
  /** @default 'oncefetch_records' */
  readonly table?: string | undefined;
  /** @default the connection's search path decides */
  readonly schema?: string | undefined;
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

function checked(name: unknown, of: string): string {
  const bytes = typeof name === 'string' ? new TextEncoder().encode(name).length : 0;
  if (!bytes || bytes > NAME_BYTES_MAX || String(name).includes('\0')) throw new TypeError(`once: ${of} must be a name of 1 to ${NAME_BYTES_MAX} bytes`);
  return name as string;
}

/** The table's name, quoted for SQL. */
export function tableOf(options: PostgresTable): string {
  onlyOptions('postgresStore', options, { table: 'string', schema: 'string', timeoutMs: 'number', prepare: 'boolean' });
  const { table = 'oncefetch_records', schema } = options;
  const name = quoted(checked(table, 'table'));
  return schema === undefined ? name : `${quoted(checked(schema, 'schema'))}.${name}`;
}

/**
 * The SQL that makes the table or brings it up to date, as one statement. It may run any number of times, also in several processes
 * at once. If nothing is missing, it takes no lock, and the role needs no right to make tables; otherwise it waits for a lock on the table
 * no longer than a second, and for another migration under way no longer than ten (or as long as the connection's `lock_timeout` says).
 *
 * @throws TypeError if `table` or `schema` is not a valid name
 * @example
 * await pool.query(postgresMigration());
 */
export function postgresMigration(options: PostgresTable = {}): string {
  const { table = 'oncefetch_records', schema } = options;
  const name = tableOf(options);
  const indexes = Object.keys(INDEXES).map((of) => literal(`${table}_${of}`));
  const steps = Object.entries(INDEXES).map(
    ([of, columns]) => `  IF NOT EXISTS (SELECT FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
    WHERE i.indrelid = ${literal(name)}::regclass AND c.relname = ${literal(`${table}_${of}`)}) THEN
    CREATE INDEX ${quoted(`${table}_${of}`)} ON ${name} ${columns};
  END IF;`,
  );
  const here = `n.nspname = ${schema === undefined ? 'current_schema()' : literal(schema)} AND t.relname = ${literal(table)}`;
  // A table of a newer version is left as it is: it may do without one of the indexes. Its migration may be the one that this one waits for.
  const newer = `EXISTS (SELECT FROM pg_namespace AS n JOIN pg_class AS t ON t.relnamespace = n.oid
    WHERE ${here}
      AND substring(obj_description(t.oid, 'pg_class') FROM '^oncefetch schema ([0-9]+)')::numeric > ${SCHEMA_VERSION})`;
  // Looked up first, because IF NOT EXISTS wants the right to make a table before it looks, and, for an index, a lock on the table, behind
  // which all writers wait. Only the first schema of the search path counts, where a new table would be made.
  // `data` is text, not jsonb, which refuses U+0000 and lone surrogates, changes the order of members, and can't hold a damaged record.
  // COLLATE "C" sorts by bytes, so that an update of the system's language rules can't corrupt an index.
  const block = `DECLARE
  patience text := current_setting('lock_timeout');
BEGIN
  IF ${newer}
    OR (SELECT count(*) FROM pg_namespace AS n JOIN pg_class AS t ON t.relnamespace = n.oid
    JOIN pg_index AS i ON i.indrelid = t.oid JOIN pg_class AS c ON c.oid = i.indexrelid
    WHERE ${here}
      AND c.relname IN (${indexes.join(', ')}) AND obj_description(t.oid, 'pg_class') IS NOT NULL) = ${indexes.length} THEN
    RETURN;
  END IF;
  IF patience = '0' THEN
    PERFORM set_config('lock_timeout', '${MIGRATION_MS_MAX}', true);
  END IF;
  PERFORM pg_advisory_xact_lock(${LOCK});
  IF ${newer} THEN
    PERFORM set_config('lock_timeout', patience, true);
    RETURN;
  END IF;
  PERFORM set_config('lock_timeout', '${LOCK_MS_MAX}', true);
  CREATE TABLE IF NOT EXISTS ${name} (
    id text COLLATE "C" PRIMARY KEY,
    rev text NOT NULL,
    ns text COLLATE "C",
    state text COLLATE "C",
    label text COLLATE "C",
    forget_at double precision,
    data text NOT NULL
  ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);
${steps.join('\n')}
  IF obj_description(${literal(name)}::regclass, 'pg_class') IS NULL THEN
    COMMENT ON TABLE ${name} IS 'oncefetch schema ${SCHEMA_VERSION}';
  END IF;
  PERFORM set_config('lock_timeout', patience, true);
END`;
  return `DO ${block.includes(BODY) ? literal(block) : BODY + block + BODY};`;
}

export type Statements = Readonly<
  Record<'insert' | 'update' | 'remove' | 'keep' | 'read' | 'page' | 'due' | 'version' | 'sweep' | 'insertMany' | 'updateMany' | 'removeMany', string>
>;

/** In the error of a statement that was sent to a server that takes no writes. */
export const READ_ONLY = 'a record may be missing on a read-only server, such as a standby: connect to the primary';
/** In the error of a statement that got its locks only after its call had ended. It is rolled back. */
export const TOO_LATE = 'the call had ended before the statement had its locks';

const CLOCK = 'extract(epoch FROM clock_timestamp()) * 1000';
/**
 * Sets how long to wait for each lock: until this time, ms since 1970, but no longer than {@link LOCK_MS_MAX}. At least 1 ms, because 0
 * would mean for ever.
 */
const patience = (until: string): string => `set_config('lock_timeout', greatest(1, least(${LOCK_MS_MAX}, floor(${until} - ${CLOCK})))::int::text, true) <> ''`;
/**
 * `value`, a number, if it is not later than `until`; otherwise the statement fails. Evaluated after the work, because a statement may
 * wait for several locks, one after the other, each of them for the whole time.
 */
const inTime = (until: string, value: string): string => `(CASE WHEN ${CLOCK} <= ${until} THEN ${value} ELSE '${TOO_LATE}' END)::int::text`;

/**
 * The condition that every write contains: the guessed time ($2) is right within $3. It also makes settings for this one statement. A
 * relaxed commit ($4) does not wait for the disk. A strict one does, even if the server is set up not to; if the server is set up to
 * wait for standbys, it still does.
 */
const level = (relaxed: string): string =>
  `set_config('synchronous_commit', CASE WHEN ${relaxed}::boolean THEN 'off' WHEN current_setting('synchronous_commit') = 'off' THEN 'on'
    ELSE current_setting('synchronous_commit') END, true)`;
const UNTIL = '($2::float8 + $3::float8)';
const RIGHT = `abs(${CLOCK} - $2::float8) <= $3::float8 AND ${level('$4')} <> '' AND ${patience(UNTIL)}`;
/**
 * Makes a read fail on a standby, which may lag behind, and on a server that was made read-only, which may have a successor. It does
 * not depend on a row, so it is evaluated even if there are none.
 */
const WRITABLE = `(CASE current_setting('transaction_read_only') WHEN 'off' THEN 'true' ELSE '${READ_ONLY}' END)::boolean`;
const NOW = `(${CLOCK})::text AS now`;

/** The statements on a table. Each write is one step: if it did nothing, it gives what is stored instead. */
export function statementsOf(name: string): Statements {
  const attempt = (work: string): string =>
    `WITH done AS (${work} RETURNING ${inTime(UNTIL, "'1'")})
    SELECT did.done, ${NOW}, r.rev, r.data
    FROM (SELECT (SELECT * FROM done) AS done) AS did LEFT JOIN ${name} AS r ON did.done IS NULL AND r.id = $1::text`;
  return {
    ...statementsOfMany(name),
    insert: attempt(
      `INSERT INTO ${name} (id, rev, ns, state, label, forget_at, data)
      SELECT $1::text, $5::text, $6::text, $7::text, $8::text, $9::float8, $10::text WHERE ${RIGHT} ON CONFLICT (id) DO NOTHING`,
    ),
    update: attempt(
      `UPDATE ${name} SET rev = $5::text, ns = $6::text, state = $7::text, label = $8::text, forget_at = $9::float8, data = $10::text
      WHERE id = $1::text AND rev = $11::text AND ${RIGHT}`,
    ),
    remove: attempt(`DELETE FROM ${name} WHERE id = $1::text AND rev = $5::text AND ${RIGHT}`),
    // Only checks that the record ($4) and the time are as guessed.
    keep: `SELECT CASE WHEN r.rev IS NOT DISTINCT FROM $4::text AND abs(${CLOCK} - $2::float8) <= $3::float8 THEN '1' END AS done,
        ${NOW}, r.rev, r.data
      FROM (SELECT 1) AS one LEFT JOIN ${name} AS r ON r.id = $1::text WHERE ${WRITABLE}`,
    read: `SELECT rev, data FROM ${name} WHERE ${WRITABLE} AND id = $1::text`,
    page: `SELECT id, rev, label, data FROM ${name}
      WHERE ${WRITABLE} AND ns = $1::text AND state = $2::text AND left(label, ${LABEL_START}) BETWEEN left($3::text, ${LABEL_START}) AND left($5::text, ${LABEL_START})
        AND (label, id) > ($3::text, $4::text) AND label < $5::text
      ORDER BY left(label, ${LABEL_START}), label, id LIMIT $6::int`,
    due: `SELECT id, rev, label, data FROM ${name} WHERE ${WRITABLE} AND forget_at < coalesce($1::float8, extract(epoch FROM now()) * 1000) ORDER BY forget_at LIMIT $2::int OFFSET $3::int`,
    version: `SELECT obj_description(oid, 'pg_class') AS comment, relpersistence::text AS persistence,
        current_setting('server_encoding') AS encoding
      FROM pg_class WHERE oid = to_regclass($1::text)`,
    // Rows that somebody else has locked are skipped.
    sweep: `DELETE FROM ${name} WHERE id IN (
        SELECT r.id FROM ${name} AS r JOIN json_array_elements($1::text::json) AS due ON r.id = due ->> 0 AND r.rev = due ->> 1 FOR UPDATE OF r SKIP LOCKED
      ) RETURNING 1`,
  };
}

/**
 * `asked`: the attempts, from one JSON ($1). `due`: those whose guessed time is right and that have enough time left. There is one commit,
 * so all of them must be done before the first of their calls ends (`bound`).
 */
const ASKED = `asked AS MATERIALIZED (
    SELECT * FROM json_to_recordset($1::text::json) AS a(id text, now float8, off float8, expected text, rev text, ns text, state text, label text, until float8, data text)
  ), clock AS MATERIALIZED (
    SELECT ${CLOCK} AS now, ${level('$2')} AS level
  ), due AS (
    SELECT asked.* FROM asked, clock
    WHERE abs(clock.now - asked.now) <= asked.off AND clock.now + ${SHARES_MS_MIN} <= asked.now + asked.off AND clock.level <> ''
  ), bound AS MATERIALIZED (SELECT coalesce(min(now + off), 'Infinity') AS until FROM due)`;

/**
 * The same for many records at once, each independently. They give how many were done, and what is stored for the others. Locked rows are
 * skipped, so that no call waits for another's record. Inserts are in order of id, so that two such statements never wait for each other.
 * If somebody else is inserting one of the records, the statement waits half of the time; the rest is for sending each by itself.
 */
function statementsOfMany(name: string): Pick<Statements, 'insertMany' | 'updateMany' | 'removeMany'> {
  const held = `held AS (SELECT r.id FROM ${name} AS r JOIN due ON r.id = due.id AND r.rev = due.expected FOR UPDATE OF r SKIP LOCKED)`;
  const attempts = (...work: string[]): string =>
    `WITH ${[ASKED, ...work].join(', ')}
    SELECT clock.now::text AS now, (SELECT ${inTime('(SELECT until FROM bound)', 'count(*)::text')} FROM done) AS done, missed.id, there.rev, there.data
    FROM clock LEFT JOIN (SELECT asked.id FROM asked LEFT JOIN done ON done.id = asked.id WHERE done.id IS NULL) AS missed ON true
      LEFT JOIN LATERAL (SELECT r.rev, r.data FROM ${name} AS r WHERE r.id = missed.id OFFSET 0) AS there ON true`;
  return {
    insertMany: attempts(
      `done AS (INSERT INTO ${name} (id, rev, ns, state, label, forget_at, data)
      SELECT id, rev, ns, state, label, until, data FROM due WHERE (SELECT ${patience(`until - (until - ${CLOCK}) / 2`)} FROM bound)
      ORDER BY id COLLATE "C" ON CONFLICT (id) DO NOTHING RETURNING id)`,
    ),
    updateMany: attempts(
      held,
      `done AS (UPDATE ${name} AS r SET rev = due.rev, ns = due.ns, state = due.state, label = due.label, forget_at = due.until, data = due.data
      FROM due WHERE r.id = due.id AND r.rev = due.expected AND r.id IN (SELECT id FROM held) RETURNING r.id)`,
    ),
    removeMany: attempts(
      held,
      `done AS (DELETE FROM ${name} AS r USING due WHERE r.id = due.id AND r.rev = due.expected AND r.id IN (SELECT id FROM held) RETURNING r.id)`,
    ),
  };
}
