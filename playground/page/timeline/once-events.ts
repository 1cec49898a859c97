/** Adds the events of oncefetch to the timeline. */

import { type Once, type OnceEvent, type Outcome, subscribe } from 'oncefetch';
import { type Entry, recorder } from './recorder.ts';

type Said = Pick<Entry, 'says' | 'tone'>;

const WAITS: Readonly<Record<string, string>> = {
  backoff: 'waits, then asks again',
  'retry-after': 'waits as long as the shop asked',
  'in-progress': 'waits while the shop works on it',
  offline: 'waits for the network, nothing sent yet',
};

export function drawEvents(once: Once): void {
  subscribe(once, hear, { prefix: ['pay'] });
}

function hear(event: OnceEvent): void {
  const cart = String(event.operation?.[1]);
  const lane = 'oncefetch';
  if (event.type === 'diagnostic') return;
  for (const { id, says, tone } of recorder.open(lane, 'wait').filter((entry) => entry.cart === cart)) recorder.end(id, { says, tone });
  if (event.type === 'attempt') recorder.add({ lane, cart, kind: 'attempt', says: 'under way', tone: 'quiet', key: `key …${event.key.slice(-4)}` });
  else if (event.type === 'wait') recorder.add({ lane, cart, kind: 'wait', says: WAITS[event.why] ?? event.why, tone: 'quiet' });
  else recorder.add({ lane, cart, kind: 'end', ...wordsOf(event.outcome) }, true);
}

function wordsOf(outcome: Outcome): Said {
  switch (outcome.type) {
    case 'fresh':
      if (!outcome.certain) return { says: 'Done: charged, now or by an earlier attempt', tone: 'good' };
      return { says: outcome.changed ? 'Done: the changed cart, charged now' : 'Done: charged now', tone: 'good' };
    case 'replayed':
      return { says: outcome.from === 'server' ? 'Done: an earlier attempt had charged' : 'Done before: nothing sent', tone: 'good' };
    case 'rejected':
      return { says: 'Refused: nothing charged', tone: 'quiet' };
    case 'unsent':
      return { says: 'Not sent: nothing charged', tone: 'quiet' };
    case 'unknown':
      return { says: `Unknown: ${outcome.reason}. The key is kept`, tone: 'unsure' };
  }
}
