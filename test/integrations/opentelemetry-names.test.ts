/**
 * Goal: every exported name follows the conventions of OpenTelemetry, and no secret is exported unless the app lists its attribute. Method:
 * compares each constant with `@opentelemetry/semantic-conventions`, and searches the output of a run with every metric for secrets.
 */
import * as conventions from '@opentelemetry/semantic-conventions';
import { afterEach, describe, expect, test } from 'vitest';
import { type OpenTelemetryOptions, openTelemetry } from '../../src/entries/opentelemetry.js';
import { requestAttributes, spanNameOf } from '../../src/integrations/opentelemetry/http.js';
import { ATTRIBUTES, EVENTS, HTTP, METRICS } from '../../src/integrations/opentelemetry/names.js';
import { answers, charged, lost, replays } from '../support/server.js';
import { breachesOfMetric, breachesOfNames, disableGlobals, Telemetry } from '../support/telemetry.js';
import { newWorld, pay } from '../support/world.js';

afterEach(disableGlobals);

test.each([
  [HTTP.method, conventions.ATTR_HTTP_REQUEST_METHOD],
  [HTTP.originalMethod, conventions.ATTR_HTTP_REQUEST_METHOD_ORIGINAL],
  [HTTP.resendCount, conventions.ATTR_HTTP_REQUEST_RESEND_COUNT],
  [HTTP.statusCode, conventions.ATTR_HTTP_RESPONSE_STATUS_CODE],
  [HTTP.serverAddress, conventions.ATTR_SERVER_ADDRESS],
  [HTTP.serverPort, conventions.ATTR_SERVER_PORT],
  [HTTP.url, conventions.ATTR_URL_FULL],
  [HTTP.errorType, conventions.ATTR_ERROR_TYPE],
])('%s is %s, as in the semantic conventions', (ours, theirs) => expect(ours).toBe(theirs));

test('the table above has every name of HTTP', () => expect(Object.keys(HTTP)).toHaveLength(8));

test('names of oncefetch follow the rules for names', () => {
  expect(breachesOfNames([...Object.values(ATTRIBUTES), ...Object.values(EVENTS)])).toEqual([]);
  expect(breachesOfNames(Object.values(METRICS))).toEqual([]);
  for (const name of [...Object.values(ATTRIBUTES), ...Object.values(EVENTS), ...Object.values(METRICS)]) expect(name).toMatch(/^oncefetch\./);
});

describe('the attributes of a request', () => {
  test.each([
    ['https://shop.example/pay', 443, 'https://shop.example/pay'],
    ['http://shop.example/pay', 80, 'http://shop.example/pay'],
    ['http://[::1]:8080/pay?token=t&x=1#h', 8080, 'http://[::1]:8080/pay?REDACTED'],
    ['https://shop.example/pay?', 443, 'https://shop.example/pay?'],
  ])('to %s', (url, port, full) => {
    expect(requestAttributes({ method: 'POST', url }, 0, false)).toEqual({
      'http.request.method': 'POST',
      'server.address': new URL(url).hostname,
      'server.port': port,
      'url.full': full,
    });
  });

  test('keep the query if url.query is listed, and never the fragment', () => {
    expect(requestAttributes({ method: 'POST', url: 'https://shop.example/pay?x=1#h' }, 0, true)).toMatchObject({ 'url.full': 'https://shop.example/pay?x=1' });
  });

  test('mark a method that the conventions do not know', () => {
    expect(spanNameOf('PURGE')).toBe('HTTP');
    expect(requestAttributes({ method: 'PURGE', url: 'https://shop.example/' }, 2, false)).toMatchObject({
      'http.request.method': '_OTHER',
      'http.request.method_original': 'PURGE',
      'http.request.resend_count': 2,
    });
  });
});

/** Plays a run with every metric in it. Returns all that the SDK was given, as text. */
async function told(options: OpenTelemetryOptions = {}) {
  const telemetry = new Telemetry();
  const { world, tab, once } = newWorld().open({ use: [openTelemetry({ ...telemetry.providers, ...options })], namespace: 'customer-ann' });
  const SECRETS = { url: 'https://shop.example/api/payments?sig=url-secret', body: { cart: 'body-secret' }, operation: ['pay', 'name-secret'] as const };
  const call = (more: object = {}) => pay(once, { ...SECRETS, ...more });
  world.server.plays(charged(lost()), replays(), answers(409, undefined, { 'retry-after': '1' }), charged(lost()));
  await world.all(tab, call(), call());
  await world.end(tab, call());
  await world.end(tab, call({ operation: ['pay', 'name-secret', 2], limits: { attempts: 1 } }));
  await world.end(tab, call({ operation: ['pay', 'name-secret', 2], body: 'body-secret, changed', whenChanged: 'refuse' }));
  const metrics = await telemetry.metrics();
  const spans = telemetry.spans.map(({ name, attributes, events, links, status }) => ({ name, attributes, events, links, status }));
  const key = world.server.keys[0] as string;
  await telemetry.shutdown();
  return { metrics, text: JSON.stringify({ spans, metrics }), key };
}

describe('a run with a lost answer, a replay, a join and a conflict', () => {
  test('exports every metric, each by the conventions', async () => {
    const { metrics } = await told();
    expect(metrics.map(({ descriptor }) => descriptor.name).sort()).toEqual(Object.values(METRICS).sort());
    expect(metrics.flatMap(breachesOfMetric)).toEqual([]);
    expect(metrics.filter(({ descriptor }) => !descriptor.description)).toEqual([]);
  });

  test('puts no attribute on a metric that has as many values as there are orders', async () => {
    const { metrics } = await told({ attributes: ['oncefetch.operation.name', 'oncefetch.key', 'url.query'] });
    const names = new Set(metrics.flatMap(({ dataPoints }) => dataPoints.flatMap(({ attributes }) => Object.keys(attributes))));
    const { effect, type, reason, replayedFrom, duplicate, conflict } = ATTRIBUTES;
    expect([...names].sort()).toEqual([effect, type, reason, replayedFrom, duplicate, conflict].sort());
    expect(JSON.stringify(metrics)).not.toMatch(/secret/);
  });

  test('exports no name, key, query, body or user by default', async () => {
    const { text, key } = await told();
    for (const secret of ['name-secret', 'url-secret', 'body-secret', 'customer-ann', key]) expect(text).not.toContain(secret);
  });

  test.each([
    ['oncefetch.operation.name', ['name-secret']],
    ['url.query', ['url-secret']],
  ] as const)('exports %s if it is listed, and no other secret', async (attribute, listed) => {
    const { text, key } = await told({ attributes: [attribute] });
    const secrets = ['name-secret', 'url-secret', 'body-secret', key];
    expect(secrets.filter((secret) => text.includes(secret))).toEqual(listed);
  });

  test('exports oncefetch.key if it is listed', async () => {
    const { text, key } = await told({ attributes: ['oncefetch.key'] });
    expect(text).toContain(`"oncefetch.key":"${key}"`);
  });
});

test.each([
  [null, 'options must be an object, got null'],
  ['billing', 'options must be an object, got "billing"'],
  [{ tracerProvider: 'jaeger' }, 'tracerProvider must be a TracerProvider, got "jaeger"'],
  [{ tracerProvider: null }, 'tracerProvider must be a TracerProvider, got null'],
  [{ meterProvider: {} }, 'meterProvider must be a MeterProvider, got object'],
  [{ attributes: 'oncefetch.key' }, 'attributes must be an array, got "oncefetch.key"'],
  [{ attributes: ['oncefetch.key', 'body'] }, 'attributes[1] must be one of oncefetch.operation.name, oncefetch.key, url.query, got "body"'],
  [{ attributes: [undefined] }, 'attributes[0] must be one of oncefetch.operation.name, oncefetch.key, url.query, got undefined'],
])('a wrong option is refused at once: %j', (options, says) => {
  expect(() => openTelemetry(options as OpenTelemetryOptions)).toThrow(new TypeError(`once: openTelemetry: ${says}`));
});

test('an unknown option is refused at once; an option that is undefined counts as absent', () => {
  expect(() => openTelemetry({ tracer: 1 } as OpenTelemetryOptions)).toThrow(new TypeError('once: openTelemetry has no option "tracer"'));
  expect(openTelemetry({ tracerProvider: undefined, meterProvider: undefined, attributes: undefined })).toHaveProperty('parts');
});
