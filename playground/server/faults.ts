/** The fault layer in front of `POST /api/payments`: it does to a request what a network, a proxy or a dying machine might do. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, BadRequest, json, number, problem, send, text } from './http.ts';
import type { Moments } from './payments.ts';

/** A payment that meets a fault. */
export interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Executes the request each time it is called. */
  readonly pay: (moments?: Moments) => Promise<Answer>;
  readonly ms: number;
}

/** Ends the process without any clean-up, like a power cut. */
const die = (): never => {
  process.kill(process.pid, 'SIGKILL');
  for (;;); // the signal may take a moment, and no commit may happen meanwhile
};
const unavailable = problem(503, { title: 'Service unavailable' });

const FAULTS = {
  /** The connection breaks before the payment is executed. */
  'lose-request': async ({ request }: Call) => void request.socket.destroy(),
  /** The effect is committed, and the connection breaks before the answer is sent. */
  'lose-response': async ({ request, pay }: Call) => {
    await pay();
    request.socket.destroy();
  },
  /** The effect is committed. The answer announces its full length, but only half of its body arrives. */
  truncate: async ({ response, pay }: Call) => {
    const { status, headers, body } = await pay();
    const bytes = Buffer.from(body);
    response.writeHead(status, { ...headers, 'content-length': bytes.length });
    response.write(bytes.subarray(0, bytes.length >> 1), () => response.destroy());
  },
  /** The payment is not executed, and no answer comes until the client gives up. */
  hang: async () => {},
  /** The effect is committed, and no answer comes until the client gives up. */
  'hang-after-commit': async ({ pay }: Call) => void (await pay()),
  /** The effect is committed, and the answer comes late. */
  delay: async ({ response, pay, ms }: Call) => {
    const answer = await pay();
    await sleep(ms);
    send(response, answer);
  },
  /** Both the effect and the answer come late. */
  slow: async ({ response, pay, ms }: Call) => send(response, await pay({ beforeCharge: () => sleep(ms) })),
  /** A `503` without an effect. */
  unavailable: async ({ response }: Call) => send(response, unavailable),
  /** The effect is committed, and a gateway replaces the answer by a `503`. */
  'unavailable-after-commit': async ({ response, pay }: Call) => {
    await pay();
    send(response, unavailable);
  },
  /** A `401` from in front of the key layer, without an effect. */
  unauthorized: async ({ response }: Call) => send(response, problem(401, { title: 'Sign in again' })),
  /**
   * Two copies arrive at once, and the answer to the first is lost, as when Chromium sends a POST again after a
   * kept-alive connection broke.
   */
  duplicate: async ({ response, pay }: Call) => {
    const [, last] = await Promise.all([pay(), pay()]);
    send(response, last);
  },
  /** The server dies during the charge: the charge is written, but not committed. */
  kill: async ({ pay }: Call) => void (await pay({ beforeCommit: die })),
  /** The server dies after the commit of the charge. */
  'kill-after-commit': async ({ pay }: Call) => void (await pay({ afterCommit: die })),
} satisfies Record<string, (call: Call) => Promise<void>>;

export type FaultName = keyof typeof FAULTS;
export const FAULT_NAMES = Object.keys(FAULTS) as readonly FaultName[];

const DELAY_MS = 1500;

/**
 * Chooses the fault of each request. A request can name its own fault in the header `x-fault: lose-response; times=1;
 * ms=300`, where `times` limits it to the first requests of this lane and cart (absent: all of them). Otherwise the
 * fault applies that `POST /api/faults` has set for the lane.
 */
export class FaultLayer {
  readonly #db: DatabaseSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** Answers the request, with its fault if it has one. */
  async handle(call: Omit<Call, 'ms'>, lane: string, cart: string): Promise<void> {
    const fault = this.#asked(call.request.headers['x-fault'], lane, cart) ?? this.#armed(lane);
    if (fault) return FAULTS[fault.name]({ ...call, ms: fault.ms });
    send(call.response, await call.pay());
  }

  /**
   * `POST /api/faults` with `{ lane, fault, times?, rate?, ms? }`: the next `times` requests of the lane (absent: all
   * of them) meet the fault, each with probability `rate`.
   */
  arm(body: Record<string, unknown>): Answer {
    const { lane, fault, times, rate = 1, ms } = body;
    this.#db
      .prepare('INSERT OR REPLACE INTO armed_faults (lane, fault, times, rate, ms) VALUES (?, ?, ?, ?, ?)')
      .run(
        text(lane, 'lane'),
        faultName(text(fault, 'fault')),
        times === undefined ? null : Math.round(number(times, 'times', 1, 1_000_000)),
        number(rate, 'rate', 0, 1),
        ms === undefined ? null : Math.round(number(ms, 'ms', 0, 60_000)),
      );
    return this.list();
  }

  disarm(lane: string | null): Answer {
    this.#db.prepare('DELETE FROM armed_faults WHERE ? IS NULL OR lane = ?').run(lane, lane);
    return this.list();
  }

  list(): Answer {
    return json(200, { names: FAULT_NAMES, armed: this.#db.prepare('SELECT lane, fault, times, rate, ms FROM armed_faults ORDER BY lane, rowid').all() });
  }

  #asked(header: string | string[] | undefined, lane: string, cart: string): { name: FaultName; ms: number } | undefined {
    if (typeof header !== 'string') return undefined;
    const [name = '', ...pairs] = header.split(';').map((part) => part.trim());
    const fault = faultName(name);
    const numbers = new Map(pairs.map((pair) => pair.split('=', 2) as [string, string]));
    const ms = Number(numbers.get('ms') ?? DELAY_MS);
    const times = numbers.get('times');
    if (times !== undefined) {
      // The request is counted first, because some faults end the process.
      const met = this.#db
        .prepare('INSERT INTO met_faults VALUES (?, ?, ?, 1) ON CONFLICT DO UPDATE SET times = times + 1 RETURNING times')
        .get(lane, cart, fault) as unknown as { times: number };
      if (met.times > Number(times)) return undefined;
    }
    return { name: fault, ms };
  }

  #armed(lane: string): { name: FaultName; ms: number } | undefined {
    const rows = this.#db.prepare('SELECT fault, times, rate, ms FROM armed_faults WHERE lane = ? ORDER BY rowid').all(lane) as unknown as ArmedRow[];
    const hit = rows.find(({ rate }) => Math.random() < rate);
    if (!hit) return undefined;
    if (hit.times !== null) {
      this.#db.prepare('UPDATE armed_faults SET times = times - 1 WHERE lane = ? AND fault = ?').run(lane, hit.fault);
      this.#db.prepare('DELETE FROM armed_faults WHERE lane = ? AND fault = ? AND times <= 0').run(lane, hit.fault);
    }
    return { name: hit.fault, ms: hit.ms ?? DELAY_MS };
  }
}

interface ArmedRow {
  readonly fault: FaultName;
  readonly times: number | null;
  readonly rate: number;
  readonly ms: number | null;
}

function faultName(name: string): FaultName {
  if (!Object.hasOwn(FAULTS, name)) throw new BadRequest(`unknown fault ${JSON.stringify(name)}, expected one of ${FAULT_NAMES.join(', ')}`);
  return name as FaultName;
}
