/** A server over real HTTP that keeps a ledger, and lies about it in one way. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Answer, answer, send, textOf } from './http.js';

export interface Asked {
  readonly key: string;
  readonly body: string;
  /** Counts all requests, whatever their key, from 1. */
  readonly number: number;
}

export class Ledger {
  /** The key of each effect, in order. */
  readonly effects: string[] = [];
  readonly #answers = new Map<string, Answer>();

  /** Makes an effect, even if the key already has one. */
  execute({ key, body }: Asked): Answer {
    this.effects.push(key);
    const given = answer(201, { payment: this.effects.length, ...JSON.parse(body) });
    this.#answers.set(key, given);
    return given;
  }

  knows({ key }: Asked): boolean {
    return this.#answers.has(key);
  }

  forget({ key }: Asked): void {
    this.#answers.delete(key);
  }

  /** The stored answer, marked as a replay. */
  replay({ key }: Asked): Answer {
    const stored = this.#answers.get(key) ?? answer(500);
    return { ...stored, headers: { 'idempotent-replayed': 'true' } };
  }

  /** The answer of an honest server. */
  honest(asked: Asked): Answer {
    return this.knows(asked) ? this.replay(asked) : this.execute(asked);
  }
}

export type Lie = (asked: Asked, ledger: Ledger) => Answer | Promise<Answer>;

export interface Liar extends AsyncDisposable {
  readonly origin: string;
  readonly ledger: Ledger;
  readonly requests: readonly Asked[];
}

/** `lose`: how many of the first answers are lost. */
export async function startLiar(lie: Lie, lose: number): Promise<Liar> {
  const ledger = new Ledger();
  const requests: Asked[] = [];
  const http = createServer(async (from, to) => {
    const { method, headers } = from;
    if (method === 'GET') return send(to, answer(200, { payments: ledger.effects.length }));
    if (method !== 'POST') return send(to, answer(405));
    const asked = { key: String(headers['idempotency-key'] ?? ''), body: await textOf(from), number: requests.length + 1 };
    requests.push(asked);
    const told = await lie(asked, ledger);
    if (asked.number <= lose) from.socket.destroy();
    else send(to, told);
  });
  await new Promise<void>((listening) => http.listen(0, '127.0.0.1', listening));
  return {
    origin: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    ledger,
    requests,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      await new Promise((closed) => http.close(closed));
    },
  };
}
