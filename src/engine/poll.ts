/** Work that goes on behind the link of a 202. */
import { atLeast, backoffMs } from '../core/backoff.js';
import { seal } from '../core/record.js';
import { isSamePerson } from './address.js';
import type { AttemptLoop } from './attempt-loop.js';
import type { Polled, Result } from './payload.js';
import { commit } from './record-access.js';
import type { Stopped } from './stopped.js';

/** Asks until the work ends, the budget of waiting does, or nothing more may be asked; `undefined` when there is no link to ask at. */
export async function askAfter(drive: AttemptLoop, accepted: Result | undefined): Promise<Polled | Stopped | undefined> {
  const link = drive.record.link ?? (accepted?.response && drive.payload.link?.(drive.job, accepted.response));
  if (link === undefined) return undefined;
  // Stored, so that nobody has to send it again.
  if (drive.record.link === undefined) {
    const next = seal({ ...drive.record, link, touchedAt: drive.job.client.platform.clock.now() });
    if (await commit(drive.job, drive.record, () => next)) drive.record = next;
  }
  return ask(drive, link);
}

async function ask(drive: AttemptLoop, link: string): Promise<Polled | Stopped | undefined> {
  const { job, start } = drive;
  const { key, carrier, firstSentAt = drive.record.createdAt } = drive.record;
  const { limits, backoff } = job.settings;
  const { clock, randomness } = job.client.platform;
  const ends = Math.min(job.deadline, clock.now() + limits.inProgressMs);
  for (let number = 1; ; number++) {
    const ms = Math.min(limits.attemptMs, ends - clock.now());
    const answer = await drive.payload.poll?.(
      { job, key, carrier, firstSentAt, number, ambiguous: true, resumed: start.resumed, otherPayloads: false, ms, leaves: () => !drive.mustStop() },
      link,
    );
    // An answer that came in another user's session says nothing of this one's work.
    const foreign = isSamePerson(job.client, job.namespace) ? undefined : drive.mustStop();
    if (foreign || answer?.state !== 'running') return foreign ?? answer;
    const cutOff = answer.result ? undefined : await drive.cutOff();
    if (cutOff) return cutOff;
    const pause = atLeast(backoff, number, answer.retryAfterMs ?? backoffMs(backoff, number, randomness.random()));
    if (clock.now() + pause >= ends) return answer;
    await drive.pause(pause, 'in-progress');
    const halted = await drive.halt();
    if (halted) return clock.now() < job.deadline ? halted : answer;
  }
}
