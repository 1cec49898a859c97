/** Removes what nobody needs any more: bounded, in the background, never on the path of a call. */

import { decodeName } from '../core/name.js';
import { readRecord } from '../core/record.js';
import type { Client } from './client.js';
import { diagnose } from './observe.js';
import { timed } from './storing.js';

/** Damaged records that a sweep reaches past. */
const DAMAGED_MAX = 10_000;

/** Sweeps after the first settle of this client and then after every `sweepEvery`; with nothing left to do it rests. */
export function sweepNowAndThen(client: Client): void {
  const { sweepEvery, sweepRestMs } = client.settings.tuning;
  // Either way round: a clock that was set back must not make it rest for longer.
  const rested = Math.abs(client.platform.clock.now() - client.sweptAt) >= sweepRestMs;
  if (client.settles++ % sweepEvery === 0 && rested)
    void sweep(client).catch(() => {
      // Nothing depends on it; the next one tries again.
    });
}

async function sweep(client: Client): Promise<void> {
  const before = client.platform.clock.now();
  const limit = client.settings.tuning.sweepEvery * 2 + client.damaged;
  const { records } = await timed(client, client.store.scan({ before, limit }));
  let damaged = 0;
  for (const stored of records) {
    const seen = readRecord(stored);
    // A damaged record is kept: an operation may be in it.
    if (!seen) {
      // It comes up again, and must not keep others from their turn.
      damaged++;
      continue;
    }
    if (seen.state === 'pending')
      diagnose(
        client,
        { name: decodeName(seen.label), label: seen.label },
        seen.key,
        'unsettled-forgotten',
        'an operation that never settled is forgotten after 30 days',
      );
    await timed(
      client,
      client.store.update(seen.id, (now) => {
        const record = readRecord(now);
        return record && record.revision === seen.revision && record.forgetAt < before ? { next: null, value: undefined } : { value: undefined };
      }),
    );
  }
  if (records.length < limit) client.sweptAt = before;
  client.damaged = Math.min(damaged, DAMAGED_MAX);
}
