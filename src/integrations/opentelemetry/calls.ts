/** Follows each call to its end, whether it drives an operation, joins one, or first waits for one and then drives. */
import { isOnceError, type OnceError, type Outcome } from 'oncefetch';
import type { Call, OperationRun } from '../../engine/client.js';
import type { Metrics } from './metrics.js';
import { EVENTS } from './names.js';
import { OperationSpan, type Telling } from './operation-span.js';
import { sharedTable } from './shared.js';

type Operate = (call: Call) => Promise<unknown>;
type Flight = ReturnType<Call['client']['registry']['flights']['get']>;

/** The spans of operations under way, of all clients in this realm, because a call may join an operation that another client drives. */
const underWay = (): WeakMap<object, OperationSpan> => sharedTable('spans');

const flightOf = ({ client, address }: Call): Flight => client.registry.flights.get(address.operationKey);

/** Notes that this span belongs to the operation under way. A call needs this if it first waited for another operation, and then drives its own. */
export function drives(span: OperationSpan, { client, operationKey }: OperationRun): void {
  const flight = client.registry.flights.get(operationKey);
  span.landed ??= flight?.landed;
  if (flight && !underWay().has(flight)) underWay().set(flight, span);
}

/** Makes the call with a span. `mark`: the symbol under which attempts and events find the span in the settings of their call. */
export function follow(call: Call, operate: Operate, mark: symbol, telling: Telling, metrics: Metrics): Promise<unknown> {
  return new Followed(call, telling, metrics).run(operate, mark);
}

class Followed {
  readonly #call: Call;
  readonly #span: OperationSpan;
  readonly #metrics: Metrics;
  readonly #startedAt: number;
  readonly #wallStartedAt = Date.now();
  /** The operation that was under way when this call came, if any. */
  readonly #met: Flight;
  #flight: Flight;
  #outcome: Outcome | undefined;
  /** Set when the caller has got its answer, or its error with this code. */
  #callerLeft: { readonly code: string | undefined } | undefined;

  constructor(call: Call, telling: Telling, metrics: Metrics) {
    this.#call = call;
    this.#span = new OperationSpan(telling);
    this.#metrics = metrics;
    this.#startedAt = call.startedAt ?? this.#now();
    this.#met = flightOf(call);
  }

  #now(): number {
    return this.#call.client.platform.clock.now();
  }

  async run(operate: Operate, mark: symbol): Promise<unknown> {
    const { settings } = this.#call;
    const own = settings.onOutcome;
    const onOutcome = (outcome: Outcome) => {
      this.#told(outcome);
      // If the app's hook rejects, the caller of this function reports it.
      return own?.(outcome);
    };
    if (!this.#met) this.#span.start();
    try {
      const work = this.#span.within(() => operate({ ...this.#call, settings: { ...settings, onOutcome, [mark]: this.#span } }));
      this.#flight = flightOf(this.#call);
      if (!this.#met && this.#flight) underWay().set(this.#flight, this.#span);
      const value = await work;
      this.#leave();
      return value;
    } catch (error) {
      this.#fail(error);
      throw error;
    }
  }

  /** Called with the outcome: before the caller gets its answer, or after the caller has left. */
  #told(outcome: Outcome): void {
    this.#metrics.ended(outcome, this.#startedAt, this.#now());
    if (outcome.joined) {
      if (this.#met) underWay().get(this.#met)?.join(this.#wallStartedAt, this.#span.caller);
      return;
    }
    if ('reason' in outcome && outcome.reason === 'mismatch') this.#metrics.conflict('mismatch');
    this.#outcome = outcome;
    if (this.#callerLeft) this.#span.end(outcome, this.#callerLeft.code);
  }

  #leave(code?: string): void {
    this.#callerLeft = { code };
    if (this.#outcome) this.#span.end(this.#outcome, code);
  }

  #fail(error: unknown): void {
    const known = isOnceError(error) ? error : undefined;
    if (known?.code === 'ERR_ONCE_CLAIM_LOST') {
      this.#metrics.conflict('claim-lost');
      this.#span.event(EVENTS.claimLost);
    }
    this.#leave(known?.code);
    if (this.#outcome) return;
    if (this.#call.signal?.aborted) this.#abandon(error);
    else if (known) this.#refuse(known);
    else this.#span.fail(error);
  }

  /** The call was refused because another one was in the way. */
  #refuse({ code, outcome }: OnceError): void {
    // If it had joined another call's operation, that one's span tells the end.
    if (outcome.joined) return;
    if (code === 'ERR_ONCE_BUSY') this.#metrics.conflict('busy');
    this.#span.end(outcome, code);
  }

  /** The caller gave up. When the operation ends, its outcome ends the span; if it ends without an outcome, `fail` does. */
  #abandon(error: unknown): void {
    if (!this.#span.started) return;
    const landed = this.#flight?.landed ?? this.#span.landed;
    if (landed) void landed.then(() => this.#span.fail(error));
    else this.#span.fail(error);
  }
}
