/** The fetch of each lane: tells the server which lane it is, and reports the end of each attempt to the timeline. */
import type { LaneName } from '../shop.ts';
import { type Entry, recorder } from './recorder.ts';

type Said = Pick<Entry, 'says' | 'tone'>;

/** Reports the attempts of the plain lane, whose own code reports nothing. */
export const plainFetch: typeof fetch = (input, init) => {
  const { cart } = JSON.parse(String(init?.body)) as { cart: string };
  const id = recorder.add({ lane: 'plain fetch', cart, kind: 'attempt', says: 'under way', tone: 'quiet', key: 'no key' });
  return send('plain fetch', input, init, (said) => recorder.end(id, said));
};

/** `subscribe` already adds the attempts of oncefetch to the timeline. This adds the end of each one. */
export const onceFetch: typeof fetch = (input, init) => {
  const id = recorder.open('oncefetch', 'attempt').at(-1)?.id ?? '';
  return send('oncefetch', input, init, (said) => recorder.end(id, said));
};

async function send(lane: LaneName, input: RequestInfo | URL, init: RequestInit | undefined, ended: (said: Said) => void): Promise<Response> {
  const headers = new Headers(init?.headers);
  headers.set('x-lane', lane);
  try {
    const response = await fetch(input, { ...init, headers });
    // Reads to the last byte, because an answer may be cut off halfway.
    void response
      .clone()
      .text()
      .then(
        () => ended(wordsOf(response)),
        () => ended({ says: `HTTP ${response.status}, cut off in the middle`, tone: 'unsure' }),
      );
    return response;
  } catch (error) {
    const late = init?.signal?.aborted === true;
    ended({ says: late ? 'no answer in time' : 'no answer, the connection broke', tone: 'unsure' });
    throw error;
  }
}

function wordsOf({ status, headers }: Response): Said {
  if (headers.get('idempotent-replayed') === 'true')
    return { says: `HTTP ${status}, the stored answer of an earlier attempt`, tone: status < 400 ? 'good' : 'quiet' };
  if (status === 409) return { says: 'HTTP 409, still being worked on', tone: 'quiet' };
  if (status === 402) return { says: 'HTTP 402, card declined', tone: 'quiet' };
  return { says: `HTTP ${status}`, tone: status < 400 ? 'good' : 'unsure' };
}
