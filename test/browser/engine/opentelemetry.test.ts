/**
 * Goal: the operations of a page produce the same traces as those of a service, although in a page a context does not
 * survive an await. Method: a real server that loses answers, real tabs, and OpenTelemetry's SDK for pages.
 */
import { context, trace } from '@opentelemetry/api';
import { StackContextManager } from '@opentelemetry/sdk-trace';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { close, createOnce, indexedDbStore } from '../../../src/entries/index.js';
import { openTelemetry } from '../../../src/entries/opentelemetry.js';
import { breachesOfClient, brief, disableGlobals, strangers, Telemetry } from '../../support/telemetry.js';
import { SOON } from '../realm/lib.js';
import { closeRealms, openFrame } from '../support/realms.js';
import { Shop } from '../support/shop.js';

let telemetry: Telemetry;
beforeEach(() => {
  telemetry = new Telemetry();
  context.setGlobalContextManager(new StackContextManager().enable());
});
afterEach(async () => {
  closeRealms();
  await telemetry.shutdown();
  disableGlobals();
});

const BODY = '{"cart":1}';

/** Marks each call of fetch with `x-send`, to tell apart the copies that a browser makes by itself. */
const send: typeof fetch = (input, init) => {
  const headers = new Headers(init?.headers);
  headers.set('x-send', crypto.randomUUID());
  return fetch(input, { ...init, headers });
};

test('a lost answer, a replay, a join and a take-over: each trace is complete and follows the conventions', async () => {
  const shop = new Shop();
  const { namespace } = shop;
  const once = createOnce({ ...SOON, namespace, store: indexedDbStore(), fetch: telemetry.instrumented(send), use: [openTelemetry(telemetry.providers)] });
  const pay = (cart: string) => once.fetch(`${shop.url}?token=t`, { method: 'POST', body: BODY, once: ['pay', cart] });

  await shop.meets('lose-response', 'none', 'none');
  const click = telemetry.tracer.startSpan('click');
  await context.with(trace.setSpan(context.active(), click), () => pay('lost'));
  click.end();
  await pay('lost');
  await Promise.all([pay('joined'), pay('joined')]);
  await shop.hold();
  const tab = await openFrame();
  const work = async (lib: typeof import('../realm/lib.js'), url: string, namespace: string, body: string) => {
    await lib.createOnce({ ...lib.SOON, namespace }).fetch(url, { method: 'POST', body, once: ['pay', 'taken over'] });
  };
  void tab.run(work, `${shop.url}?token=t`, namespace, BODY).catch(() => {});
  await shop.arrived(4);
  const waiting = pay('taken over');
  await new Promise((resolve) => setTimeout(resolve, 200));
  tab.close();
  await shop.release();
  await waiting;

  const operations = telemetry.operations.map(brief);
  expect(operations.map(({ events }) => events)).toEqual([['oncefetch.waiting backoff'], [], ['oncefetch.call_joined'], ['oncefetch.waiting another-context']]);
  expect(operations.map(({ attributes }) => [attributes['oncefetch.type'], attributes['oncefetch.replayed_from'], attributes['oncefetch.resumed']])).toEqual([
    ['replayed', 'server', false],
    ['replayed', 'memory', true],
    ['fresh', undefined, false],
    ['replayed', 'server', true],
  ]);
  const attempts = telemetry.operations.flatMap((operation) => telemetry.below(operation));
  const request = {
    'http.request.method': 'POST',
    'server.address': location.hostname,
    'server.port': Number(location.port),
    'url.full': `${shop.url}?REDACTED`,
  };
  expect(attempts.map(({ attributes }) => attributes)).toEqual([
    { ...request, 'error.type': 'TypeError' },
    { ...request, 'http.response.status_code': 201, 'http.request.resend_count': 1 },
    { ...request, 'http.response.status_code': 201 },
    { ...request, 'http.response.status_code': 201, 'http.request.resend_count': 1 },
  ]);
  expect(attempts.flatMap(breachesOfClient)).toEqual([]);
  expect(telemetry.spans.flatMap(({ attributes }) => strangers(attributes))).toEqual([]);
  expect(telemetry.below(telemetry.spans.find(({ name }) => name === 'click'))).toEqual([telemetry.operations[0]]);
  expect(await telemetry.metric('duplicates')).toEqual({ joined: 1, 'replayed server': 2, 'replayed memory': 1 });

  const transports = attempts.flatMap((attempt) => telemetry.below(attempt));
  const { arrivals } = await shop.ledger();
  const parents = new Set(arrivals.flatMap(({ headers }) => headers['traceparent'] ?? []));
  expect([...parents]).toEqual(transports.map((span) => `00-${span.spanContext().traceId}-${span.spanContext().spanId}-01`));
  await close(once);
  expect(telemetry.open).toBe(0);
});
