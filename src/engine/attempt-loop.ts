/** Drives one record: makes an attempt, reads the answer, decides, waits, and repeats that until the operation ends or the call must stop. */
import type { UnknownReason } from '../core/codes.js';
import { cleanlyRefused, decide, type Situation, type Stop, stop } from '../core/decide.js';
import type { WaitReason } from '../core/event.js';
import { type Outcome, unknown, unsent } from '../core/outcome.js';
import { type PendingRecord, readRecord } from '../core/record.js';
import { outOfBudget } from './budget.js';
import type { AttemptResult, Driver, OperationRun, Payload } from './client.js';
import { told } from './failure.js';
import { reasonToHalt, reasonUnsent, takenOver } from './halt.js';
import { renew } from './lease.js';
import { emit, publish, tellWait } from './observe.js';
import { commitMark, readStored, storedIn, storeForOperation } from './record-access.js';
import { type Refusals, refusalsOf } from './refusals.js';
import type { Result } from './result.js';
import { hasOthers } from './settle.js';
import type { Start, Stopped } from './stopped.js';
import { sleptSince, wait, waitsUntil } from './wait.js';

/** For this long after a call gave up on work in progress (`spentAt`), the next calls do not wait for that work. */
const SPENT_MS = 60_000;

export class AttemptLoop implements Driver {
  readonly job: OperationRun;
  readonly start: Start;
  record: PendingRecord;
  /** An attempt under this key may have had its effect, as far as this driver knows. Never set back. */
  ambiguous: boolean;
  readonly refusals: Refusals;
  /** An attempt with the present payload, by any driver, may have had its effect. */
  #sameAmbiguous: boolean | undefined;
  #attempts = 0;
  /** When this call first saw the device offline; `undefined` while it is online. */
  #offlineSince: number | undefined;
  /** The server has answered an attempt of this call, if only with a status line. */
  #answered = false;
  #mayResend = false;
  /** This call has waited, so another context may have changed the record. */
  #waited = false;
  /** The answer to the last attempt that left; `undefined` if that attempt got none. */
  #last: Result | undefined;
  /** Noted at the start: a log-in that moves the record meanwhile does not change where its key was kept. */
  readonly #keptIn: Outcome['storedIn'];

  constructor(job: OperationRun, start: Start) {
    this.job = job;
    this.start = start;
    this.#keptIn = storedIn(storeForOperation(job));
    this.record = start.record;
    this.ambiguous = start.resumed || !start.record.random;
    this.refusals = refusalsOf(job, start);
    this.#sameAmbiguous = start.sentBefore;
  }

  get facts() {
    const { key, firstSentAt } = this.record;
    const { resumed, reused } = this.start;
    return told(this.job, {
      key,
      attempts: this.#attempts,
      firstSentAt: this.#attempts || resumed ? firstSentAt : undefined,
      sent: this.#answered || reused ? 'yes' : this.ambiguous ? 'maybe' : 'no',
      resumed,
      storedIn: this.#keptIn,
    });
  }

  get #keyed(): boolean {
    return this.job.payload?.keyed?.(this.job, this.record.carrier) ?? true;
  }

  /** Makes attempts until the decision is something other than to wait. */
  async run(payload: Payload): Promise<Stopped> {
    if (this.record.link !== undefined) return { decision: { do: 'poll' } };
    // A server that knows no keys must not get the request twice: only `reconcile` can say more.
    if (this.start.resumed && !this.#keyed) return { decision: stop('no-answer', true) };
    const { clock, randomness } = this.job.client.platform;
    let { triesMax, waitsEnd } = await this.#beforeFirst();
    // Attempts that find work in progress (`waits`) do not count against `limits.attempts`; all others do (`tries`).
    let tries = 0;
    let waits = 0;
    for (;;) {
      const halted = (tries && !this.#last && (await this.awaitNetwork())) || (await this.halt());
      const sent = halted || (await this.#send(payload));
      if ('decision' in sent) return sent;
      const { reading, cause } = sent;
      if (reading.kind === 'in-progress') waits++;
      else tries++;
      const now = clock.now();
      if (outOfBudget(this.job, reading.kind, tries, this.start.resumed)) triesMax = tries;
      if (waits) waitsEnd ||= waitsUntil(this.job, now);
      const decision = decide(reading, {
        ...this.#known(),
        now,
        refusedForMs: this.refusals.note(sent),
        answered: this.#last !== undefined,
        tries,
        triesMax,
        waits,
        waitsEnd,
        retryAfterMs: sent.retryAfterMs,
        random: randomness.random(),
      });
      if (reading.ambiguous) this.ambiguous = this.#sameAmbiguous = true;
      if (decision.do !== 'wait') return { decision, result: this.#last, cause };
      await this.pause(decision.ms, decision.why);
    }
  }

  /** Sends another payload of this key once, to learn how it ended. Gives why not, if nothing may be sent now. */
  async probe(payload: Payload): Promise<AttemptResult | Stopped> {
    return (await this.halt()) ?? this.#send(payload);
  }

  /**
   * Waits before the first attempt, if the record or the network says so. Gives how many attempts to make, and when this call stops waiting for work
   * in progress, ms since 1970; 0 until it first finds some.
   */
  async #beforeFirst(): Promise<{ triesMax: number; waitsEnd: number }> {
    const { client, settings, deadline } = this.job;
    const now = client.platform.clock.now();
    const { retryAt = 0, spentAt = -Infinity } = this.record;
    if (retryAt > now && retryAt < deadline) await this.pause(retryAt - now, 'retry-after');
    // Ignore the result: the device may be wrong about being offline, so the first attempt is made in any case.
    await this.awaitNetwork();
    // If the server asked to wait beyond this call's time, make a single attempt.
    return { triesMax: retryAt > now && retryAt >= deadline ? 1 : settings.limits.attempts, waitsEnd: now - spentAt < SPENT_MS ? now : 0 };
  }

  /** Waits, and tells screens and logs. */
  async pause(ms: number, why: WaitReason): Promise<void> {
    const { client, settings, stop } = this.job;
    const { clock, connectivity } = client.platform;
    const until = clock.now() + ms;
    this.#waited = true;
    tellWait(client, this.job, this.record.key, this.#attempts, until, why, this.#last);
    // Coming online cuts short only these two kinds of wait, never one that the server asked for. `ms` may be hours if the clock was set back.
    await wait(clock, Math.min(ms, settings.limits.totalMs), [stop, client.closing], why === 'backoff' || why === 'offline' ? connectivity : undefined);
  }

  /** Waits while the device is offline, so that an outage costs no attempts. Ends the call after `offlineWaitMs`, so that the user is told within seconds. */
  async awaitNetwork(): Promise<Stopped | undefined> {
    const { client, settings, deadline } = this.job;
    const { clock, connectivity } = client.platform;
    const { offlineWaitMs } = settings.limits;
    const since = this.#offlineSince ?? clock.now();
    const end = since + offlineWaitMs;
    // Never more than `offlineWaitMs`: if the clock was set back by hours, the call would otherwise wait for hours.
    const ms = Math.min(offlineWaitMs, end - clock.now(), deadline - clock.now());
    if (connectivity.online() === false && ms > 0) await this.pause(ms, 'offline');
    // When an outage has ended, the next one gets the full time.
    this.#offlineSince = connectivity.online() === false ? since : undefined;
    return this.#offlineSince !== undefined && clock.now() >= end ? this.#end('offline') : undefined;
  }

  /** What is known of this key and its server, apart from the last answer. */
  #known() {
    const { job, start } = this;
    return {
      ...this.refusals.known(),
      deadline: job.deadline,
      ambiguous: this.ambiguous,
      // Until an attempt of this drive may have had the effect, a replay may be the answer to an earlier payload that was refused.
      changed: this.ambiguous ? start.changed : hasOthers(start),
      reused: start.reused,
      mayResend: this.#mayResend,
      repeat: job.settings.repeat,
      sameAmbiguous: this.#sameAmbiguous,
      answersMismatch: job.settings.dialect.answersMismatch,
      keyed: this.#keyed,
      backoff: job.settings.retry,
    } satisfies Partial<Situation>;
  }

  /** Called before each attempt: checks everything that may have changed since the last one. */
  async halt(): Promise<Stopped | undefined> {
    const stopped = this.mustStop();
    // While the call waited or the device slept, the lease may have run out, or somebody may have logged out: another driver may own the record.
    const mustLook = this.#attempts > 0 || this.#waited || sleptSince(this.job.client, this.record.touchedAt - this.job.aheadMs);
    // Before the app's `reconcile` is asked, look whether another driver owns the record by now.
    if (stopped) return (mustLook && (stopped.decision as Partial<Stop>).ask && (await this.stillMine())) || stopped;
    if (this.record.ambiguous) return mustLook ? this.stillMine() : undefined;
    // The record was stored clean, so mark it ambiguous before its first attempt leaves. Check again after that: the device may have slept meanwhile.
    const next = await commitMark(this.job, this.record);
    this.record = next ?? this.record;
    return next ? this.halt() : this.#end('store');
  }

  /** The checks that need no I/O; repeated right before the attempt leaves, because hooks and stores take time. */
  mustStop(): Stopped | undefined {
    const maybeSent = this.ambiguous && this.record.ambiguous;
    const reason = reasonToHalt(this.job, this.record, maybeSent || (this.start.reused && !this.ambiguous));
    // If all that was sent under the key was refused, go on under a new key, as the next call would.
    if (reason === 'key-expired') return { decision: maybeSent ? stop(reason, true) : { do: 'anew' } };
    return reason && this.#end(reason);
  }

  /** Stops the drive. The outcome is "no effect" if nothing was sent or if all that was sent was refused, otherwise unknown. */
  #end(reason: UnknownReason, cause?: unknown): Stopped {
    // For example after a 429: the call was waiting for its next attempt, and its last one was refused in front of the application.
    if (!this.ambiguous && this.#last) return { decision: cleanlyRefused('in-front', this.#known()), result: this.#last };
    return { decision: { do: 'stop', ending: this.ambiguous ? unknown(reason) : unsent(reasonUnsent(reason)), ask: false }, cause };
  }

  /** `undefined` while the record is still this driver's; otherwise (log-out, `forget`, another driver) how the drive stops. */
  async stillMine(mayRepeat = true): Promise<Stopped | undefined> {
    const askedAt = this.job.client.platform.clock.now();
    try {
      // Renew the lease, which may have run out while the device slept. Otherwise the app could `settle` between this look and the attempt.
      const stored = await (this.record.lease ? renew(this) : readStored(this.job));
      // If the device slept while the store answered, the answer may be outdated: look again, but only once, because the store may merely be slow.
      return mayRepeat && sleptSince(this.job.client, askedAt) ? await this.stillMine(false) : takenOver(readRecord(stored), this.record);
    } catch (cause) {
      return this.#end('store', cause);
    }
  }

  async #send(payload: Payload): Promise<AttemptResult | Stopped> {
    const { job, ambiguous, start } = this;
    const { client, settings, operationKey } = job;
    const number = this.#attempts + 1;
    let stopped: Stopped | undefined;
    const stillMine = async (): Promise<boolean> => {
      stopped = await this.stillMine();
      return !stopped;
    };
    const leaves = (): boolean => {
      stopped = this.mustStop();
      if (stopped) return false;
      this.refusals.leaves();
      this.#attempts = number;
      publish(client, operationKey, { phase: 'sending', attempt: number, maxAttempts: settings.limits.attempts });
      emit(client, job, this.record.key, { type: 'attempt', attempt: number });
      return true;
    };
    const ms = Math.min(settings.limits.attemptMs, job.deadline - client.platform.clock.now());
    const { key, carrier, firstSentAt = this.record.createdAt } = this.record;
    const otherPayloads = start.changed || start.otherBytes || this.record.refusedBefore || !this.record.random;
    const sent = await payload.send({ job, key, carrier, firstSentAt, number, ambiguous, resumed: start.resumed, otherPayloads, ms, stillMine, leaves });
    // A look at the record may also fail after the attempt has left. Then the call must not end as if nothing had been sent.
    if (stopped && sent.reading.kind === 'not-sent') return stopped;
    if (sent.result || sent.reading.kind !== 'not-sent') this.#last = sent.result;
    if (sent.reached) this.#answered = true;
    if (sent.mayResend) this.#mayResend = true;
    return sent;
  }
}
