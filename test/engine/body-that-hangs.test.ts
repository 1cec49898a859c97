/** Goal: a body whose file can't be read any more ends the attempt in time, and nothing is sent. Method: a Blob whose last reading before the first byte never ends. */
import { expect, test } from 'vitest';
import { defineDialect, inBody } from '../../src/entries/dialects.js';
import { createOnce, memoryStore, outcomeOf } from '../../src/entries/index.js';

const dialect = defineDialect({ name: 'mine', place: inBody('key') });

/** Pays with a file of which this many readings come to an end, and says how often it was read. */
async function payWith(readings: number) {
  let reads = 0;
  let sent = 0;
  class File extends Blob {
    override stream(): ReturnType<Blob['stream']> {
      reads++;
      return reads > readings ? new ReadableStream() : super.stream();
    }
  }
  const fetch = async () => {
    sent++;
    return Response.json({}, { status: 201 });
  };
  const once = createOnce({ store: memoryStore(), fetch, dialect, limits: { attempts: 1, attemptMs: 50, totalMs: 2000 } });
  const body = new File(['{"amount":1}'], { type: 'application/json' });
  const end = await once.fetch('https://shop.example/pay', { method: 'POST', body, once: ['pay', String(readings)] }).catch((error: unknown) => error);
  return { reads, sent, effect: outcomeOf(end)?.effect };
}

test('a key in the body of a file that is gone: nothing is sent, and the call ends', async () => {
  const { reads, ...paid } = await payWith(Number.POSITIVE_INFINITY);
  expect(paid).toEqual({ sent: 1, effect: 'done' });
  expect(await payWith(reads - 1)).toEqual({ reads, sent: 0, effect: 'none' });
});
