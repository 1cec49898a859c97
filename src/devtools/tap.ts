/** Sits between a client and its transport while there is a panel: applies faults, and records the answer to each attempt. */
import { type OnceEvent, subscribe } from 'oncefetch';
import type { Client } from '../engine/client.js';
import { familyOf } from '../engine/extensions.js';
import type { FaultName, Faults } from './faults.js';
import { faceOf } from './inside.js';
import { type Evidence, noAnswer, readCopy } from './reading.js';
import type { AttemptStep, Step, Timeline } from './timeline.js';

type Changeable<T> = { -readonly [Name in keyof T]: T[Name] };

/** What the tap needs from the panel, and how it reports. */
export interface Tapped {
  readonly faults: Faults;
  readonly timeline: Timeline;
  /** Whether the record said "sent" when the store was last read. */
  sentBefore(track: string, key: string): boolean;
  told(step?: Step): void;
  /** Whether an event of this client belongs to the present user, so that it may be shown. */
  isMine(event: OnceEvent, of: Client): boolean;
}

export class Tap {
  readonly #tapped: Tapped;
  readonly #releases = new Map<Client, () => void>();

  constructor(tapped: Tapped) {
    this.#tapped = tapped;
  }

  /** Taps the client, and all clients that were extended from it and are not tapped yet. */
  take(client: Client): void {
    for (const one of familyOf(client)) if (!this.#releases.has(one)) this.#releases.set(one, this.#takeOne(one));
  }

  /** Restores every client as it was. */
  release(): void {
    for (const release of this.#releases.values()) release();
    this.#releases.clear();
  }

  #takeOne(client: Client): () => void {
    let leaving: AttemptStep | undefined;
    const off = subscribe(faceOf(client), (event) => {
      if (!this.#tapped.isMine(event, client)) return;
      const step = this.#tapped.timeline.hear(event);
      const { track, key } = step;
      if (step.is === 'attempt' && this.#tapped.timeline.attempts(track, key).length === 1) step.sentBefore = this.#tapped.sentBefore(track, key);
      this.#tapped.told(step);
      // The transport is called in the same tick as this event, so that call belongs to this attempt.
      if (step.is !== 'attempt') return;
      leaving = step;
      queueMicrotask(() => {
        leaving = undefined;
      });
    });
    const transport = client.transport as Changeable<Client['transport']>;
    const platform = client.platform as Changeable<Client['platform']>;
    const { send: bareSend } = transport;
    const { connectivity: bare } = platform;
    let on = true;
    const send: typeof bareSend = (url, init) => {
      const step = leaving;
      leaving = undefined;
      const bareCall = () => bareSend.call(transport, url, init);
      return on ? this.#send(client, step, { url, init }, bareCall) : bareCall();
    };
    const connectivity = this.#tapped.faults.connectivity(bare);
    Object.assign(transport, { send });
    Object.assign(platform, { connectivity });
    return () => {
      on = false;
      off();
      // If somebody has wrapped our functions since then, they stay in place and only pass calls on.
      if (transport.send === send) transport.send = bareSend;
      if (platform.connectivity === connectivity) platform.connectivity = bare;
    };
  }

  async #send(client: Client, step: AttemptStep | undefined, call: { url: string; init: RequestInit }, bareCall: () => Promise<Response>): Promise<Response> {
    const { faults, told } = this.#tapped;
    const met: FaultName[] = [];
    const began = client.platform.clock.now();
    const took = (): number => client.platform.clock.now() - began;
    const note = (evidence: Evidence): void => {
      if (step) step.evidence = evidence;
      told(step);
    };
    try {
      const response = await faults.send(bareCall, call.init.signal, (fault) => met.push(fault));
      if (step) void this.#read(client, step, call, response, took(), met).then(note, () => told());
      return response;
    } catch (error) {
      note(noAnswer(call.init.signal?.aborted ? 'no answer in time' : 'a network error', took(), met));
      throw error;
    }
  }

  /**
   * Reads a copy of the answer. Called in the tick of the answer, because a body can be copied only while nobody has read it. Rejects if
   * it can't be copied.
   */
  async #read(client: Client, { track, key }: Step, call: { url: string; init: RequestInit }, response: Response, ms: number, met: readonly FaultName[]) {
    const ambiguous = this.#tapped.timeline.ambiguous(track, key);
    return readCopy(client, { ...call, key, ambiguous }, response.clone(), ms, met);
  }
}
