import ky from 'ky';
import { createOnce, isOnceError, type Once, type OnceRequestInit, outcomeOf, type UnknownReason } from 'oncefetch';
import { withOnce } from 'oncefetch/ky';

declare const once: Once;
declare const cart: { id: string } | undefined;
// @ts-expect-error nobody is logged in yet, and would be for as long as the client lives: it must be a function
void createOnce({ namespace: cart?.id });
// @ts-expect-error undefined in a name (the classic: ['pay', undefined] shared by every cart)
void once.fetch('/x', { once: ['pay', cart?.id] });
const api = withOnce(ky.create({ prefix: '/api' }), once);
void api.post('/x', { once: ['pay', 'c1'] });
void api('/x', { method: 'post', once: ['pay', 'c1'] }).json<{ id: string }>();
void api.extend({ headers: {} }).post<{ id: string }>('/x', { once: false });
// @ts-expect-error typo
void api.post('/x', { once: { operaton: ['pay'] } });
// @ts-expect-error an instance without oncefetch would send it without a key
void ky.post('/x', { once: ['pay', 'c1'] });
// @ts-expect-error so would an instance that inherits nothing
void api.create({ prefix: '/api' }).post('/x', { once: ['pay', 'c1'] });
// @ts-expect-error the name of the instance and the name of the call would be joined
void api.extend({ once: ['shop'] });
// @ts-expect-error another fetch would leave the name out
void api.post('/x', { once: ['pay', 'c1'], fetch });
// @ts-expect-error so would the fetch of an extension
void api.extend({ fetch });
const passed: typeof ky = api;
void passed;
// @ts-expect-error typo through an untyped carrier is caught by satisfies
const carried = { fetchOptions: { once: { operaton: ['pay'] } } satisfies OnceRequestInit };
// narrowing works
const o = outcomeOf(carried);
if (o?.type === 'unknown') {
  const r: UnknownReason = o.reason;
  void r;
}
// @ts-expect-error a settled outcome has no retryAt
if (o?.type === 'fresh') void o.retryAt;
const e: unknown = null;
if (isOnceError(e, 'ERR_ONCE_BUSY')) {
  const c: 'ERR_ONCE_BUSY' = e.code;
  void c;
}
const f: typeof fetch = once.fetch;
void f;
// The promise of a call has no outcome yet.
const unawaited = outcomeOf(once.fetch('/x', { once: ['pay', 'c1'] }));
// @ts-expect-error it has to be awaited first
void unawaited?.effect;
const untyped = JSON.parse('{}'); // an untyped value may be anything
void outcomeOf(untyped)?.effect;
export const ofAny = <T>(answer: T) => outcomeOf(answer)?.effect;
