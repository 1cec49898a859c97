/** The network between a client and a {@link ModelServer}: every copy of a request passes here, meets its fault, and is recorded. */
import type { Clock } from '../ports.js';
import { type Delivery, type FaultName, Faults, suffer } from './faults.js';
import { type ModelAnswer, type ModelRequest, type ModelServer, ServerKilled } from './model-server.js';

/** One copy of a request as it was sent. */
export interface SentCopy extends ModelRequest {
  readonly key: string | undefined;
  readonly at: number;
  /** The fault that it met, or `none`. */
  readonly fate: FaultName | 'none';
  /** The status of the server's answer, whether the client saw it or not; absent while the server works on it, and if it never arrived. */
  readonly status: number | undefined;
}

export class ModelNetwork {
  readonly faults = new Faults();
  readonly requests: SentCopy[] = [];
  readonly #server: ModelServer;
  readonly #clock: Clock;
  readonly #keyHeader: string;
  #life = 1;

  constructor(server: ModelServer, options: { readonly clock: Clock; readonly keyHeader: string }) {
    this.#server = server;
    this.#clock = options.clock;
    this.#keyHeader = options.keyHeader.toLowerCase();
  }

  /** Delivers one request. Never rejects. `payload`: as for {@link ModelServer.handle}. */
  async deliver(request: ModelRequest, payload?: string): Promise<Delivery> {
    const fault = this.faults.draw();
    const life = this.#life;
    let noted: Noted | undefined = this.#note(request, fault?.name ?? 'none');
    const pass = async (): Promise<ModelAnswer> => {
      if (life !== this.#life) throw new ServerKilled();
      // The first copy is recorded above. A fault that passes the request on more than once has sent more copies.
      const copy = noted ?? this.#note(request, fault?.name ?? 'none');
      noted = undefined;
      const answer = await this.#server.handle(request, payload);
      copy.status = answer.status;
      return answer;
    };
    try {
      return fault ? await suffer({ pass, fault, clock: this.#clock }) : { kind: 'answer', answer: await pass() };
    } catch (error) {
      if (error instanceof ServerKilled) return { kind: 'network-error' };
      throw error;
    }
  }

  /** Forgets requests and faults. Requests that are still under way never arrive. */
  reset(): void {
    this.#life++;
    this.requests.length = 0;
    this.faults.clear();
  }

  #note(request: ModelRequest, fate: FaultName | 'none'): Noted {
    const copy: Noted = { ...request, key: request.headers[this.#keyHeader], at: this.#clock.now(), fate, status: undefined };
    this.requests.push(copy);
    return copy;
  }
}

type Noted = { -readonly [K in keyof SentCopy]: SentCopy[K] };
