/** Goal: an operator sees what became of each operation. Method: OpenTelemetry's own SDK, reporting into memory, and a real HTTP server. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AggregationTemporality, InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { close, createOnce, memoryStore, type Once } from 'oncefetch';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { telemetry } from '../../playground/services/telemetry.ts';

type Answer = 'lost' | 'at-work' | 'made' | 'replayed';
let answers: Answer[] = [];
let server: Server;
let url = '';
let once: Once;
let stop: () => void;
let spans: InMemorySpanExporter;
let reports: InMemoryMetricExporter;
let meters: MeterProvider;

beforeEach(async () => {
  server = createServer((request, response) => {
    const answer = answers.shift();
    if (answer === 'lost' || answer === undefined) request.socket.destroy();
    else if (answer === 'at-work') response.writeHead(409, { 'retry-after': '0' }).end();
    else response.writeHead(201, answer === 'replayed' ? { 'idempotent-replayed': 'true' } : {}).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  spans = new InMemorySpanExporter();
  reports = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const tracers = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: spans })] });
  meters = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter: reports, exportIntervalMillis: 3_600_000 })] });
  const { onOutcome, watch } = telemetry(tracers.getTracer('test'), meters.getMeter('test'));
  once = createOnce({ namespace: 'billing', store: memoryStore(), onOutcome, retry: { minDelayMs: 1, maxDelayMs: 2 } });
  stop = watch(once);
});
afterEach(async () => {
  stop();
  await close(once);
  await meters.shutdown();
  server.close();
});

const pay = (order: string, attempts = 5) => once.fetch(url, { method: 'POST', body: order, once: { operation: ['charge', order], limits: { attempts } } });

/** What a metric says last, by its attributes. */
async function metric(name: string): Promise<Record<string, number>> {
  await meters.forceFlush();
  const found = reports
    .getMetrics()
    .at(-1)
    ?.scopeMetrics.flatMap(({ metrics }) => metrics)
    .find(({ descriptor }) => descriptor.name === name);
  return Object.fromEntries((found?.dataPoints ?? []).map(({ attributes, value }) => [Object.values(attributes).join(' '), value as number]));
}

test('an operation is a span, and its attempts are its children, one after the other', async () => {
  answers = ['lost', 'at-work', 'replayed'];
  await pay('o-1');
  const all = spans.getFinishedSpans();
  const [operation] = all.filter(({ name }) => name === 'once charge');
  const attempts = all.filter(({ name }) => name === 'once attempt');
  expect(operation?.attributes).toMatchObject({ 'once.operation': 'charge', 'once.type': 'replayed', 'once.effect': 'done', 'once.resumed': false });
  expect(attempts.map(({ attributes }) => attributes['once.attempt'])).toEqual([1, 2, 3]);
  for (const { parentSpanContext } of attempts) expect(parentSpanContext?.spanId).toBe(operation?.spanContext().spanId);
  expect(operation?.events.map(({ attributes }) => attributes?.['once.why'])).toEqual(['backoff', 'in-progress']);
  const ms = ([s, ns]: readonly [number, number]) => s * 1000 + ns / 1e6;
  for (const [n, { startTime }] of attempts.slice(1).entries()) expect(ms(startTime)).toBeGreaterThanOrEqual(ms(attempts[n]!.endTime));
});

test('an unknown end is an error with its reason; the next call of the name is a span with the same key', async () => {
  await pay('o-1', 1).catch(() => {});
  answers = ['replayed'];
  await pay('o-1');
  const [first, second] = spans.getFinishedSpans().filter(({ name }) => name === 'once charge');
  expect(first?.status).toEqual({ code: 2, message: 'no-answer' });
  expect(second?.attributes).toMatchObject({ 'once.resumed': true, 'once.key': first?.attributes['once.key'] });
});

test('metrics: outcomes and with them the replay rate, attempts, conflicts, and what is unsettled for how long', async () => {
  answers = ['made', 'lost', 'replayed', 'lost', 'at-work', 'made', 'lost'];
  for (const order of ['o-1', 'o-2', 'o-3']) await pay(order);
  await pay('o-1').catch(() => {}); // remembered
  await pay('o-4', 1).catch(() => {});
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await metric('once.outcomes')).toEqual({ 'charge fresh done': 2, 'charge replayed done': 2, 'charge unknown unknown': 1 });
  expect(await metric('once.attempts')).toEqual({ charge: 7 });
  expect(await metric('once.key_conflicts')).toEqual({ 'charge in-progress': 1 });
  expect(await metric('once.unsettled')).toEqual({ '': 1 });
  expect((await metric('once.unsettled.age'))['']).toBeGreaterThanOrEqual(0.05);
});
