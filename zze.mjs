// test/stores/zz-e.ts
import pg from "pg";

// test/support/services.ts
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
var withoutRedis = onPath("redis-server") ? void 0 : "there is no redis-server here: apt-get install redis-server";
var postgresFolder = findPostgres();
var withoutPostgres = postgresFolder ? void 0 : "there is no PostgreSQL here: apt-get install postgresql";
function onPath(program) {
  return (process.env["PATH"] ?? "").split(":").some((folder) => existsSync(join(folder, program)));
}
function findPostgres() {
  const debian = "/usr/lib/postgresql";
  const newest = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const { stdout } = spawnSync("pg_config", ["--bindir"], { encoding: "utf8" });
  return [...newest.map((version) => join(debian, version, "bin")), stdout?.trim()].find((folder) => folder && existsSync(join(folder, "initdb")));
}
function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
async function startPostgres() {
  if (!postgresFolder) throw new Error(withoutPostgres);
  const [port, folder] = [await freePort(), mkdtempSync(join(tmpdir(), "oncefetch-postgres-"))];
  const data = join(folder, "data");
  const root = process.getuid?.() === 0;
  const [uid, gid] = root ? ["-u", "-g"].map((flag) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }))) : [];
  if (uid !== void 0 && gid !== void 0) chownSync(folder, uid, gid);
  const run = (program, ...args) => {
    const { status, stderr } = spawnSync(join(postgresFolder, program), args, {
      stdio: ["ignore", "ignore", "pipe"],
      cwd: folder,
      ...uid !== void 0 && { uid },
      ...gid !== void 0 && { gid }
    });
    if (status !== 0) throw new Error(`${program} failed: ${stderr}`);
  };
  run("initdb", "-D", data, "-A", "trust", "-U", "postgres", "--no-sync", "-E", "UTF8", "--locale=C");
  const options = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=${folder}`;
  const start = () => run("pg_ctl", "-D", data, "-o", options, "-l", join(folder, "log"), "-w", "start");
  const kill = () => run("pg_ctl", "-D", data, "-m", "immediate", "stop");
  start();
  return {
    port,
    connection: { host: "127.0.0.1", port, user: "postgres", database: "postgres" },
    kill,
    start,
    stop() {
      if (existsSync(join(data, "postmaster.pid"))) kill();
      rmSync(folder, { recursive: true, force: true });
    }
  };
}

// src/core/record.ts
function checksum(r) {
  const text = JSON.stringify([
    r.id,
    r.ns,
    r.label,
    r.state,
    r.key,
    r.carrier,
    r.dialect,
    r.origin,
    r.random,
    r.generation,
    r.revision,
    r.ambiguous,
    r.scheme,
    r.payloads,
    r.raw,
    r.createdAt,
    r.firstSentAt,
    r.windowEndsAt,
    r.touchedAt
  ]);
  let hash = 2166136261;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
  return hash >>> 0;
}
var RECORD_VERSION = 1;
function readRecord(stored) {
  const r = stored;
  try {
    const sound = r.v >= RECORD_VERSION && r.sum === checksum(r) && /^(pending|settled|retired)$/.test(r.state) && typeof r.forgetAt === "number";
    return sound && typeof r.key === "string" && Array.isArray(r.payloads) ? r : void 0;
  } catch {
    return void 0;
  }
}

// src/stores/fault.ts
var StoreFault = class extends Error {
  reason;
  constructor(reason, says, cause) {
    super(`once: ${says}`, { cause });
    this.name = "StoreFault";
    this.reason = reason;
  }
};
var isPlatforms = (error) => !error || error instanceof DOMException;
function faultOf(scope, error) {
  if (!isPlatforms(error)) return error;
  const { name, message } = error ?? { name: "", message: "it did not say why" };
  return new StoreFault(/quota/i.test(name) ? "quota" : name === "SecurityError" ? "denied" : "io", `${scope} failed: ${message}`, error);
}

// src/stores/base.ts
function storeOf(claims, holder, now = Date.now) {
  const { scope } = claims;
  let closed = false;
  const guarded = async (work) => {
    try {
      if (closed) throw new StoreFault("closed", `${scope} is closed`);
      if (holder.here && !holder.here()) throw new StoreFault("denied", `${scope} does not exist here`);
      return await work();
    } catch (error) {
      throw faultOf(scope, error);
    }
  };
  return {
    ...claims,
    available: () => guarded(() => holder.available?.()).then(
      () => true,
      (fault) => {
        if (fault.reason === "denied") return false;
        throw fault;
      }
    ),
    async update(id, change, options) {
      let value;
      const next = (current) => {
        const changed = change(current, now());
        value = changed.value;
        return changed.next;
      };
      await guarded(() => holder.update(id, next, options?.durability ?? "strict"));
      return value;
    },
    read: (id) => guarded(() => holder.read(id)),
    scan: (query) => guarded(() => holder.scan(query)),
    async close() {
      closed = true;
      holder.close?.();
    }
  };
}
function isStored(value) {
  const { id, ns, state, label, forgetAt } = Object(value);
  return [id, ns, state, label].every((field) => typeof field === "string") && typeof forgetAt === "number";
}
var compare = (a, b) => a < b ? -1 : +(a > b);
function pageOf(found, query) {
  const { limit } = query;
  if ("before" in query) {
    const due = found.filter((r) => r.forgetAt < query.before).sort((a, b) => a.forgetAt - b.forgetAt);
    return { records: due.slice(0, limit) };
  }
  const { ns, state, prefix = "", after } = query;
  const [label, id] = after ? JSON.parse(after) : ["", ""];
  const records = found.filter((r) => r.ns === ns && r.state === state && r.label.startsWith(prefix) && (!after || (compare(r.label, label) || compare(r.id, id)) > 0)).sort((a, b) => compare(a.label, b.label) || compare(a.id, b.id));
  const last = records[limit - 1];
  return { records: records.slice(0, limit), next: last && records[limit] && JSON.stringify([last.label, last.id]) };
}

// src/stores/attempt.ts
var isDone = ({ next, rev }, { done, seen }) => done || Boolean(next && seen && namesIn(seen.rev).includes(namesIn(rev)[0]));
var NAMES_MAX = 3;
var NAME_UNITS = 16;
var namesIn = (rev) => rev.split(" ");
var revAfter = (seen) => {
  const name = crypto.randomUUID().replaceAll("-", "").slice(0, NAME_UNITS);
  return [name, ...seen ? namesIn(seen.rev) : []].slice(0, NAMES_MAX).join(" ");
};

// src/stores/server-clock.ts
var ServerClock = class {
  #heard = Date.now();
  #at = performance.now();
  /** What {@link now} said last: the time that a change is told, and that the server is asked to confirm. */
  said = 0;
  now = () => {
    this.said = Math.round(this.#heard + performance.now() - this.#at);
    return this.said;
  };
  hear(now) {
    this.#heard = now;
    this.#at = performance.now();
  }
};

// src/stores/text.ts
var TAG = "~";
var textOf = (record) => JSON.stringify(needsTags(record) ? tagged(record) : record);
function recordOf(text) {
  if (typeof text !== "string") return text ?? void 0;
  try {
    const record = JSON.parse(text);
    return text.includes(`"${TAG}"`) ? untagged(record) : record;
  } catch {
    return text;
  }
}
function needsTags(value) {
  if (typeof value === "number") return !Number.isFinite(value);
  if (typeof value !== "object" || !value) return false;
  return ArrayBuffer.isView(value) || Object.hasOwn(value, TAG) || Object.values(value).some(needsTags);
}
var mapped = (value, change) => Array.isArray(value) ? value.map(change) : Object.fromEntries(Object.entries(value).map(([name, one]) => [name, change(one)]));
function tagged(value) {
  if (typeof value === "number") return Number.isFinite(value) ? value : { [TAG]: ["number", String(value)] };
  if (typeof value !== "object" || !value) return value;
  if (ArrayBuffer.isView(value)) return { [TAG]: ["bytes", base64(new Uint8Array(value.buffer, value.byteOffset, value.byteLength))] };
  const plain = mapped(value, tagged);
  return Object.hasOwn(value, TAG) ? { [TAG]: ["object", plain] } : plain;
}
function untagged(value) {
  if (typeof value !== "object" || !value) return value;
  const [kind, content] = Object.hasOwn(value, TAG) ? value[TAG] : [];
  if (kind === "number") return Number(content);
  if (kind === "bytes") return Uint8Array.from(atob(String(content)), (one) => one.charCodeAt(0));
  return mapped(kind === "object" ? content : value, untagged);
}
var BYTES_AT_ONCE = 8192;
function base64(bytes) {
  let binary = "";
  for (let at = 0; at < bytes.length; at += BYTES_AT_ONCE) binary += String.fromCharCode(...bytes.subarray(at, at + BYTES_AT_ONCE));
  return btoa(binary);
}
var ordered = (text) => (
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about.
  text.replace(/[\u0000-\u001f]|[~-\uffff]/g, (unit) => {
    const code = unit.charCodeAt(0);
    return code < 32 ? `${hex(code, 2)}` : `~${hex(code, 4)}`;
  })
);
var unordered = (text) => (
  // biome-ignore lint/suspicious/noControlCharactersInRegex: U+001F is how control characters are written.
  text.replace(/\u001f(..)|~(....)/g, (_, low, high) => String.fromCharCode(Number.parseInt(low ?? high ?? "", 16)))
);
var hex = (code, digits) => code.toString(16).padStart(digits, "0");
function pageOfPlaces(found, query) {
  const page = found.slice(0, query.limit);
  const last = page.at(-1);
  const { records } = pageOf(page.map(({ record }) => record).filter(isStored), query);
  return last && found.length > query.limit ? { records, next: JSON.stringify([unordered(last.label), unordered(last.id)]) } : { records };
}
var LOOKS_MAX = 10;
async function dueOf(look, query) {
  const { limit } = query;
  const due = [];
  for (let looks = 0, offset = 0; looks < LOOKS_MAX && due.length < limit; looks++) {
    const found = await look(offset, limit);
    due.push(...found.filter(isStored));
    if (found.length < limit) break;
    offset += found.length;
  }
  return pageOf(due, query);
}
function rangeOf({ prefix = "", after }) {
  const start = ordered(prefix);
  const [label, id] = (after ? JSON.parse(after) : []).map(ordered);
  return { ...label !== void 0 && id !== void 0 && label >= start ? { label, id } : { label: start, id: "" }, end: `${start}\x7F` };
}

// src/stores/guess.ts
var CLOCK_OFF_MS_MAX = 1e3;
var SEEN_MAX = 1e3;
var SEEN_UNITS_MAX = 16384;
var PAUSE_MS_MAX = 50;
var QUICK_ROUNDS = 3;
var pause = () => new Promise((done) => setTimeout(done, Math.random() * PAUSE_MS_MAX));
var Guesses = class {
  clock = new ServerClock();
  #server;
  #timeoutMs;
  #seen = /* @__PURE__ */ new Map();
  #turns = /* @__PURE__ */ new Map();
  constructor(server, timeoutMs) {
    this.#server = server;
    this.#timeoutMs = timeoutMs;
  }
  async read(id) {
    const seen = await this.within(() => this.#server.read(id));
    this.learn(id, seen);
    return recordOf(seen?.text);
  }
  /** Resolves when what `next` makes of the record is committed. Updates of one record from here come one after the other. */
  async update(id, next, durability) {
    const deadline = performance.now() + this.#timeoutMs;
    const before = this.#turns.get(id);
    const asking = { id, next, durability, deadline, looked: false };
    const mine = (async () => {
      await before;
      await this.within(() => this.#rounds(asking), deadline).catch((fault) => this.#takeBack(asking, fault));
    })();
    const turn = mine.catch(() => {
    });
    this.#turns.set(id, turn);
    await mine.finally(() => {
      if (this.#turns.get(id) === turn) this.#turns.delete(id);
    });
  }
  /**
   * Whoever asked may take what its change saw last for a look, and "absent" for leave to go on without the store: an
   * earlier key may be in it. So before it fails, the change sees what is there, or that nobody knows.
   */
  async #takeBack(asking, fault) {
    const { id, next, looked } = asking;
    asking.deadline = 0;
    const full = fault.reason === "quota";
    const current = full ? await this.read(id).catch(() => UNKNOWN) : UNKNOWN;
    this.clock.now();
    if (!looked || full) ask(next, current);
    throw fault;
  }
  /** What is there, for the next guess. */
  learn(id, seen) {
    this.#seen.delete(id);
    if (!seen || String(seen.text).length > SEEN_UNITS_MAX) return;
    this.#seen.set(id, seen);
    const [oldest] = this.#seen.keys();
    if (this.#seen.size > SEEN_MAX && oldest !== void 0) this.#seen.delete(oldest);
  }
  /** Bounded, because clients wait for a server that is gone, some of them for ever. */
  async within(work, deadline = performance.now() + this.#timeoutMs) {
    let timer;
    const timeout = new Promise((_, reject) => {
      timer = setTimeout(
        () => reject(new StoreFault("timeout", `the store did not answer within ${this.#timeoutMs} ms`)),
        Math.max(0, deadline - performance.now())
      );
    });
    try {
      return await Promise.race([work(), timeout]);
    } catch (error) {
      throw error instanceof Thrown ? error.error : this.#server.fault(error);
    } finally {
      clearTimeout(timer);
    }
  }
  async #rounds(asking) {
    const { id, next, durability } = asking;
    let seen = this.#seen.get(id);
    let heard = false;
    for (let round = 0; performance.now() < asking.deadline; round++) {
      if (round > QUICK_ROUNDS) await pause();
      const now = this.clock.now();
      const asked = ask(next, recordOf(seen?.text), seen);
      if ("thrown" in asked) {
        if (asking.looked) throw new Thrown(asked.thrown);
        seen = await this.#server.read(id);
        asking.looked = true;
        continue;
      }
      const offMs = heard ? Math.max(this.#timeoutMs, CLOCK_OFF_MS_MAX) : CLOCK_OFF_MS_MAX;
      const attempt = { id, expected: seen, now, offMs, durability, ...asked };
      const { answer, broke } = await this.#send(attempt, asking);
      this.clock.hear(answer.now);
      if (isDone(attempt, answer)) {
        this.learn(id, asked.next ? { rev: attempt.rev, text: asked.text } : asked.next === null ? void 0 : seen);
        return;
      }
      if (broke && asked.next !== void 0 && answer.seen?.rev !== seen?.rev) {
        throw new StoreFault("io", "the connection broke, and whether the update was committed can not be told: the record was changed since");
      }
      seen = answer.seen;
      this.learn(id, seen);
      asking.looked = heard = true;
    }
    throw new StoreFault("timeout", `others were faster with this record for ${this.#timeoutMs} ms`);
  }
  /** Sends it; once more if the connection broke, which does nothing twice, because of the version's name. */
  async #send(attempt, asking) {
    for (let broke = false; ; ) {
      try {
        const answer = await this.#server.attempt(attempt);
        return { answer, broke: broke || Boolean(answer.broke) };
      } catch (error) {
        const fault = this.#server.fault(error);
        const again = fault.reason === "blocked" || fault.reason === "io" && !broke;
        if (!again || performance.now() > asking.deadline) {
          this.learn(attempt.id, void 0);
          throw fault;
        }
        broke ||= fault.reason === "io";
      }
      await pause();
    }
  }
};
var UNKNOWN = "could not be looked at";
var Thrown = class {
  error;
  constructor(error) {
    this.error = error;
  }
};
function ask(next, current, seen) {
  try {
    const record = next(current);
    return { next: record, text: record ? textOf(record) : "", rev: record ? revAfter(seen) : "" };
  } catch (thrown) {
    return { thrown };
  }
}

// src/stores/postgres-fault.ts
var REASONS = {
  "28": "denied",
  // invalid authorization
  "42501": "denied",
  // insufficient privilege
  "25006": "denied",
  // read-only: a standby
  "53100": "quota",
  // disk full
  "53200": "quota",
  // out of memory
  "54": "quota",
  // program limit exceeded
  "53300": "blocked",
  // too many connections
  "40": "blocked",
  // serialization failure, deadlock: rolled back
  "55P03": "blocked",
  // a lock was not to be had
  "57P03": "blocked",
  // it starts up
  "57014": "timeout",
  // statement_timeout
  XX001: "corrupt",
  XX002: "corrupt"
};
function postgresFault(scope, client2, thrown) {
  if (thrown instanceof StoreFault) return thrown;
  const { code, message } = Object(thrown);
  const state = /^[0-9A-Z]{5}$/.test(String(code)) ? String(code) : "";
  const { ending, ended, _ending, _ended } = client2;
  const closed = !state && [ending, ended, _ending, _ended].includes(true);
  const reason = REASONS[state] ?? REASONS[state.slice(0, 2)] ?? (closed ? "closed" : "io");
  return new StoreFault(reason, `${scope} failed: ${String(message)}`, thrown);
}

// src/stores/postgres-sql.ts
var SCHEMA_VERSION = 1;
var NAME_BYTES_MAX = 57;
var LOCK = 7241630915;
var LABEL_START = 256;
var LOCK_MS_MAX = 1e3;
var quoted = (name) => `"${name.replaceAll('"', '""')}"`;
var literal = (text) => `'${text.replaceAll("'", "''")}'`;
function checked(name, of) {
  const bytes = typeof name === "string" ? new TextEncoder().encode(name).length : 0;
  if (bytes === 0 || bytes > NAME_BYTES_MAX || String(name).includes("\0")) throw new TypeError(`once: ${of} must be a name of 1 to ${NAME_BYTES_MAX} bytes`);
  return name;
}
function tableOf({ table = "oncefetch_records", schema }) {
  const name = quoted(checked(table, "table"));
  return schema === void 0 ? name : `${quoted(checked(schema, "schema"))}.${name}`;
}
function postgresMigration(options = {}) {
  const { table = "oncefetch_records" } = options;
  const name = tableOf(options);
  const comment = `BEGIN
  IF obj_description(${literal(name)}::regclass, 'pg_class') IS NULL THEN
    COMMENT ON TABLE ${name} IS 'oncefetch schema ${SCHEMA_VERSION}';
  END IF;
END`;
  return `SELECT pg_advisory_xact_lock(${LOCK});
CREATE TABLE IF NOT EXISTS ${name} (
  id text COLLATE "C" PRIMARY KEY,
  rev text NOT NULL,
  ns text COLLATE "C",
  state text COLLATE "C",
  label text COLLATE "C",
  forget_at double precision,
  data text NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);
CREATE INDEX IF NOT EXISTS ${quoted(`${table}_place`)} ON ${name} (ns, state, left(label, ${LABEL_START}));
CREATE INDEX IF NOT EXISTS ${quoted(`${table}_time`)} ON ${name} (forget_at);
DO ${literal(comment)};`;
}
var TIME = `WITH t AS (
  SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now,
    set_config('lock_timeout', '${LOCK_MS_MAX}', true) AS patience,
    set_config('synchronous_commit', CASE WHEN $4::boolean THEN 'off' WHEN current_setting('synchronous_commit') = 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, true) AS level
)`;
var RIGHT = "abs(t.now - $2::float8) <= $3::float8 AND t.level <> t.patience";
function statementsOf(name) {
  const attempt = (work) => `${TIME}, done AS (${work} RETURNING 1)
     SELECT t.now::text AS now, (SELECT count(*) FROM done)::text AS done, r.rev, r.data
     FROM t LEFT JOIN ${name} AS r ON r.id = $1::text AND NOT EXISTS (SELECT FROM done)`;
  return {
    insert: attempt(
      `INSERT INTO ${name} (id, rev, ns, state, label, forget_at, data)
       SELECT $1::text, $5::text, $6::text, $7::text, $8::text, $9::float8, $10::text FROM t WHERE ${RIGHT} ON CONFLICT (id) DO NOTHING`
    ),
    update: attempt(
      `UPDATE ${name} AS w SET rev = $5::text, ns = $6::text, state = $7::text, label = $8::text, forget_at = $9::float8, data = $10::text
       FROM t WHERE w.id = $1::text AND w.rev = $11::text AND ${RIGHT}`
    ),
    remove: attempt(`DELETE FROM ${name} AS w USING t WHERE w.id = $1::text AND w.rev = $5::text AND ${RIGHT}`),
    // Nothing is done if the record is as expected and the time was right: it is left as it is.
    keep: `WITH t AS (SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now)
      SELECT t.now::text AS now, (CASE WHEN r.rev IS NOT DISTINCT FROM $4::text AND abs(t.now - $2::float8) <= $3::float8 THEN 1 ELSE 0 END)::text AS done, r.rev, r.data
      FROM t LEFT JOIN ${name} AS r ON r.id = $1::text`,
    read: `SELECT rev, data FROM ${name} WHERE id = $1::text`,
    page: `SELECT id, rev, label, data FROM ${name}
      WHERE ns = $1::text AND state = $2::text AND left(label, ${LABEL_START}) BETWEEN left($3::text, ${LABEL_START}) AND left($5::text, ${LABEL_START})
        AND (label, id) > ($3::text, $4::text) AND label < $5::text
      ORDER BY left(label, ${LABEL_START}), label, id LIMIT $6::int`,
    due: `SELECT id, rev, label, data FROM ${name} WHERE forget_at < $1::float8 ORDER BY forget_at LIMIT $2::int OFFSET $3::int`,
    version: `SELECT to_regclass($1::text)::text AS found, obj_description(to_regclass($1::text), 'pg_class') AS comment`,
    // Whoever works on a row has it locked, and it is passed over.
    sweep: `DELETE FROM ${name} WHERE id IN (
        SELECT r.id FROM ${name} AS r JOIN json_array_elements($1::json) AS due ON r.id = due ->> 0 AND r.rev = due ->> 1 FOR UPDATE OF r SKIP LOCKED
      ) RETURNING 1`
  };
}

// src/stores/postgres.ts
var TIMEOUT_MS = 5e3;
var SWEEP_ROWS = 500;
function postgresStore(client2, options = {}) {
  if (typeof client2?.query !== "function")
    throw new TypeError("once: postgresStore takes a Pool or Client of pg, or what has the same query(text, values)");
  const { timeoutMs = TIMEOUT_MS } = options;
  const name = tableOf(options);
  const scope = `postgres:${numberOf(client2)}:${name}`;
  const sql = statementsOf(name);
  const query = queryOf(client2);
  const check = schemaCheck(scope, name, query, sql);
  const rows = async (text, ...values) => {
    await check();
    return query(text, ...values);
  };
  const fault = (error) => postgresFault(scope, client2, error);
  const guesses = new Guesses(
    { attempt: (attempt) => send(rows, sql, attempt), read: async (id) => seenOf((await rows(sql.read, ordered(id)))[0]), fault },
    timeoutMs
  );
  const claims = { kind: "postgres", scope, survives: "machine", shared: "cluster", atomic: true };
  const store = storeOf(
    claims,
    {
      update: (id, next, durability) => guesses.update(id, next, durability),
      read: (id) => guesses.read(id),
      scan: (query2) => scan((text, ...values) => guesses.within(() => rows(text, ...values)), sql, guesses, query2)
    },
    () => guesses.clock.said
  );
  return {
    ...store,
    sweep: ({ limit = SWEEP_ROWS, before = Date.now() } = {}) => sweep(rows, sql, before, limit).catch((error) => Promise.reject(fault(error)))
  };
}
function queryOf(client2) {
  const query = async (text, ...values) => (await client2.query(text, values)).rows;
  if (!("processID" in client2)) return query;
  let last = Promise.resolve();
  return (text, ...values) => {
    const mine = last.then(() => query(text, ...values));
    last = mine.catch(() => {
    });
    return mine;
  };
}
var numbers = /* @__PURE__ */ new WeakMap();
var clients = 0;
function numberOf(client2) {
  const number = numbers.get(client2) ?? ++clients;
  numbers.set(client2, number);
  return number;
}
var seenOf = (row) => typeof row?.rev === "string" ? { rev: row.rev, text: row.data } : void 0;
async function send(rows, sql, { id, expected, now, offMs, next, rev, text, durability }) {
  const [key, relaxed] = [ordered(id), durability === "relaxed"];
  const asked = [key, now, offMs, relaxed];
  let answer;
  if (next) {
    const row2 = [rev, ...[next.ns, next.state, next.label].map(ordered), next.forgetAt, text];
    answer = expected ? await rows(sql.update, ...asked, ...row2, expected.rev) : await rows(sql.insert, ...asked, ...row2);
  } else if (next === null && expected) answer = await rows(sql.remove, ...asked, expected.rev);
  else answer = await rows(sql.keep, key, now, offMs, expected?.rev ?? null);
  const [row] = answer;
  return { done: row?.done === "1", now: Number(row?.now), seen: seenOf(row) };
}
function schemaCheck(scope, name, query, { version }) {
  let checking;
  const check = async () => {
    const [row] = await query(version, name);
    if (row?.found == null) throw new StoreFault("io", `${scope} has no table ${name} yet: run the SQL that postgresMigration() gives`);
    const found = Number(/^oncefetch schema (\d+)/.exec(row.comment ?? "")?.[1] ?? SCHEMA_VERSION);
    if (found > SCHEMA_VERSION)
      throw new StoreFault(
        "newer",
        `${scope} was made by a newer version of oncefetch (schema ${found}, this is ${SCHEMA_VERSION}); nothing was changed, update oncefetch here`
      );
  };
  return () => {
    checking ??= check().catch((error) => {
      checking = void 0;
      throw error;
    });
    return checking;
  };
}
async function scan(rows, sql, guesses, query) {
  const learnt = (found2) => {
    for (const row of found2) guesses.learn(unordered(row.id ?? ""), seenOf(row));
    return found2;
  };
  if ("before" in query)
    return dueOf(async (offset, count) => learnt(await rows(sql.due, query.before, count, offset)).map(({ data }) => recordOf(data)), query);
  const { label, id, end } = rangeOf(query);
  const found = learnt(await rows(sql.page, ordered(query.ns), ordered(query.state), label, id, end, query.limit + 1));
  return pageOfPlaces(
    found.map((row) => ({ label: row.label ?? "", id: row.id ?? "", record: recordOf(row.data) })),
    query
  );
}
async function sweep(rows, sql, before, limit) {
  for (let [removed, kept] = [0, 0]; ; ) {
    const found = await rows(sql.due, before, limit, kept);
    const over = found.filter(({ data }) => readRecord(recordOf(data))?.state.match(/settled|retired/));
    const gone = over.length > 0 ? (await rows(sql.sweep, JSON.stringify(over.map(({ id, rev }) => [id, rev])))).length : 0;
    removed += gone;
    kept += found.length - gone;
    if (found.length < limit) return removed;
  }
}

// test/stores/zz-e.ts
var p = await startPostgres();
var pool = new pg.Pool({ ...p.connection, max: 1 });
await pool.query(postgresMigration());
var q;
var client = { query: (t, v) => {
  q = [t, v];
  return pool.query(t, v);
} };
var s = postgresStore(client);
var u = 0;
var rec = (id, more = {}) => ({ id, ns: "a".repeat(64), state: "pending", label: `["pay","${id}"]`, forgetAt: Date.now() + 1e9, body: "x".repeat(500), ...more });
for (let i = 0; i < 2e3; i++) await s.update("a" + i, () => ({ next: rec("a" + i), value: 0 }));
var show = async (n) => {
  const pl = [], ex = [];
  let last;
  for (let i = 0; i < 60; i++) {
    const [t, v] = q;
    const vv = [...v];
    if (n === "insert") {
      vv[0] = "z" + u++;
      vv[1] = Date.now();
    } else vv[1] = Date.now();
    const r = await pool.query("EXPLAIN (ANALYZE) " + t, vv);
    last = r.rows.map((x) => x["QUERY PLAN"]);
    const tx = last.join("\n");
    pl.push(+tx.match(/Planning Time: ([\d.]+)/)[1]);
    ex.push(+tx.match(/Execution Time: ([\d.]+)/)[1]);
  }
  const m = (a) => a.sort((x, y) => x - y)[30];
  console.log(n, "planning ms", m(pl), "execution ms", m(ex));
  if (process.argv[2]) console.log(last.join("\n"));
};
await show("insert");
await s.update("a1", () => ({ next: rec("a1", { state: "settled" }), value: 0 }));
await show("update");
await s.update("a1", () => ({ value: 0 }));
await show("keep");
await pool.query("create table plain(id text primary key, data text)");
var time = async (n, f) => {
  const t = [];
  for (let i = 0; i < 800; i++) {
    const a = performance.now();
    await f();
    t.push(performance.now() - a);
  }
  t.sort((a, b) => a - b);
  console.log(n, "p50 us", (t[400] * 1e3).toFixed(0), "min", (t[8] * 1e3).toFixed(0));
};
await time("select 1", () => pool.query("select 1", []));
await pool.query("set synchronous_commit=off");
await time("plain insert off", () => pool.query("insert into plain values ($1,$2) on conflict do nothing", ["q" + u++, "x".repeat(600)]));
await time("ours relaxed insert", () => s.update("r" + u++, () => ({ next: rec("r"), value: 0 }), { durability: "relaxed" }));
await time("ours keep", () => s.update("a1", () => ({ value: 0 }), { durability: "relaxed" }));
await pool.query("set synchronous_commit=on");
await time("plain insert on", () => pool.query("insert into plain values ($1,$2) on conflict do nothing", ["q" + u++, "x".repeat(600)]));
await time("ours strict insert", () => s.update("r" + u++, () => ({ next: rec("r"), value: 0 })));
await pool.end();
p.stop();
process.exit();
