/** The answers of servers, and of whatever stands in front of them, in words that real servers use. */
import { type Answer, aboutKey, answer } from './answers.js';
import type { ServerOptions } from './families.js';
import type { Random } from './random.js';

const RETRY_AFTER = { 'retry-after': '1' };

/** Messages of servers that are still working on an earlier copy with the same key. Each is in the code of some real server. */
const AT_WORK: readonly string[] = [
  'Another request with this Idempotency-Key is running',
  'Another request with the same idempotency key is currently executing',
  'A request with this Idempotency-Key is in flight',
  'The original request has not finished',
  'This request is already being handled',
  'A request is outstanding for this Idempotency-Key',
  'Your previous request is still processing',
];
const IN_USE = { error: 'idempotency_key_in_use', message: 'another request with this idempotency key is being processed' };

/** What a copy is answered while the server works on another copy with the same key. */
export function atWork(busy: ServerOptions['busy'], random: Random): Answer {
  if (busy === '429') return answer(429, { message: 'Duplicate request detected' }, random.chance(0.5) ? RETRY_AFTER : {});
  if (busy === '202') return answer(202, { status: 'already processing' });
  if (busy === '409') return answer(409, random.chance(0.5) ? null : IN_USE);
  if (busy === 'wordings') return said(random.chance(0.8) ? 409 : 423, random.pick(AT_WORK), random);
  return aboutKey(409, AT_WORK[5] as string, RETRY_AFTER);
}

/** The words come as problem details, as a message, or as the detail of an error. */
function said(status: number, words: string, random: Random): Answer {
  const form = random.int(0, 2);
  if (form === 0) return aboutKey(status, words, RETRY_AFTER);
  return form === 1 ? answer(status, { message: words }, RETRY_AFTER) : answer(status, { error: 'conflict', detail: words }, RETRY_AFTER);
}

/** The answer to a key that is done, from a server that keeps no answers. */
export const isDone = (done: 'done-elsewhere' | '429', key: string): Answer =>
  done === '429'
    ? answer(429, { message: 'Duplicate request detected' })
    : answer(409, { code: 'ALREADY_PROCESSED', message: `The idempotency key ${key} was used before`, resource_id: 'pay_1' });

export const MISMATCH = {
  422: aboutKey(422, 'Idempotency-Key is already used'),
  400: answer(400, { error: { type: 'idempotency_error', message: 'Keys can only be used with the same parameters' } }),
};

export const BROKEN = answer(500, { error: 'internal' });

/** Refusals by the application itself, behind its key layer. */
export const DECLINED: readonly Answer[] = [
  answer(402, { code: 'card_declined' }),
  answer(402, { code: 'insufficient_funds' }),
  answer(422, { code: 'out_of_stock' }),
  answer(400, { code: 'invalid_amount' }),
  answer(409, { code: 'version_conflict' }),
];

/** Statuses with which load balancers, sessions and rate limits refuse. An application behind its key layer never uses them. */
const IN_FRONT = [401, 401, 401, 403, 403, 404, 405, 407, 413, 415, 421, 425, 428, 429, 429, 429, 431, 451, 501, 505];

export function frontRefusal(random: Random): Answer {
  const status = random.pick(IN_FRONT);
  return answer(status, { code: 'refused_in_front' }, status === 429 && random.chance(0.5) ? RETRY_AFTER : {});
}

/** The answer after the effect: the cart, or the thing that was deleted, is no longer there. */
export const GONE = answer(404, { code: 'cart_empty' });

export const pollRefusal = (random: Random): Answer => answer(random.pick([401, 404, 429]), { code: 'refused_in_front' });

export const gateway = (random: Random): Answer =>
  answer(random.pick([502, 503, 504]), random.chance(0.5) ? 'Bad gateway' : null, random.chance(0.3) ? RETRY_AFTER : {});
