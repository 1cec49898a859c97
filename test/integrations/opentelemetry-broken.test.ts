/** Goal: no SDK, exporter, span processor or context manager can change the outcome of a payment. Method: each method of the SDK that oncefetch calls throws. */
import { type Context, type ContextManager, context, diag, type MeterProvider, ROOT_CONTEXT, type TracerProvider } from '@opentelemetry/api';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { close, run } from '../../src/entries/index.js';
import { openTelemetry } from '../../src/entries/opentelemetry.js';
import { charged, lost, replays } from '../support/server.js';
import { Telemetry } from '../support/telemetry.js';
import { newWorld, pay } from '../support/world.js';

let logged: unknown[];
beforeEach(() => {
  logged = [];
  const nothing = () => {};
  diag.setLogger({ error: (...all) => void logged.push(all), warn: nothing, info: nothing, debug: nothing, verbose: nothing });
});
afterEach(() => diag.disable());

type Method = (...call: unknown[]) => unknown;

/** A copy of `target`, and of the objects that its methods return, in which the method `name` throws. */
const broken = <T extends object>(target: T, name: string): T =>
  new Proxy(target, {
    get(_, method) {
      const own = Reflect.get(target, method, target) as unknown;
      if (typeof own !== 'function') return own;
      return (...call: unknown[]) => {
        if (method === name) throw new Error(`${name} is broken`);
        const made = (own as Method).apply(target, call);
        return typeof made === 'object' && made !== null && /^(get|create|start)/.test(String(method)) ? broken(made, name) : made;
      };
    },
  });

test.each(
  `getTracer getMeter createCounter createObservableGauge addBatchObservableCallback removeBatchObservableCallback startSpan setAttributes
  setAttribute setStatus addEvent end add record`.split(/\s+/),
)('an SDK whose %s throws: the outcomes stay the same, and the error is in the log of OpenTelemetry', async (method) => {
  const sdk = new Telemetry();
  const tracerProvider: TracerProvider = broken(sdk.tracerProvider, method);
  const meterProvider: MeterProvider = broken(sdk.meterProvider, method);
  const { world, tab, once } = newWorld().open({ use: [openTelemetry({ tracerProvider, meterProvider, attributes: ['oncefetch.key'] })] });
  world.server.plays(charged(lost()), replays());
  expect(await world.all(tab, pay(once), pay(once))).toMatchObject([
    { status: 201, outcome: { type: 'replayed', attempts: 2 } },
    { status: 201, outcome: { type: 'replayed', joined: true } },
  ]);
  expect(world.server.arrivals).toHaveLength(2);
  expect(await world.run(run(once, ['charge', 1], () => 'ok'))).toBe('ok');
  await close(once);
  expect(tab.reported).toEqual([]);
  expect(JSON.stringify(logged)).toContain('oncefetch: telemetry failed');
  await sdk.shutdown();
});

test.each(['getTracer', 'getMeter', 'startSpan', 'setAttributes', 'end', 'add', 'record'])(
  'an SDK whose %s throws, and a log of OpenTelemetry that throws, too',
  async (method) => {
    const broke = () => {
      throw new Error('the log is broken');
    };
    diag.setLogger({ error: broke, warn: broke, info: broke, debug: broke, verbose: broke }, { suppressOverrideMessage: true });
    const sdk = new Telemetry();
    const world = newWorld();
    const { tab, once } = world.open({
      use: [openTelemetry({ tracerProvider: broken(sdk.tracerProvider, method), meterProvider: broken(sdk.meterProvider, method) })],
    });
    expect(await world.end(tab, pay(once), charged(lost()), replays())).toMatchObject({ status: 201, outcome: { type: 'replayed', attempts: 2 } });
    await close(once);
    diag.disable();
    await sdk.shutdown();
  },
);

const broke = (): never => {
  throw new Error('with is broken');
};
test.each<[string, (work: () => unknown) => unknown, (() => Context)?]>([
  ['does not know the active context', (work) => work(), broke],
  ['throws instead of calling the function', broke],
  ['throws after it has called the function', (work) => [work(), broke()]],
  ['does not call the function', () => {}],
  ['calls the function twice', (work) => [work(), work()][1]],
])('a context manager that %s: the payment is sent as before, once for each attempt', async (_, run_, active = () => ROOT_CONTEXT) => {
  const manager = { active, with: (_: Context, work: () => unknown) => run_(work), enable: () => manager, disable: () => manager };
  context.setGlobalContextManager(manager as unknown as ContextManager);
  onTestFinished(() => context.disable());
  const { tracerProvider, meterProvider } = new Telemetry();
  const { world, tab, once } = newWorld().open({ use: [openTelemetry({ tracerProvider, meterProvider })] });
  expect(await world.end(tab, pay(once), charged(lost()), replays())).toMatchObject({ status: 201, outcome: { type: 'replayed', attempts: 2 } });
  expect(world.server.arrivals).toHaveLength(2);
  const calls: number[] = [];
  expect(await world.run(run(once, ['charge', 1], () => calls.push(1)))).toBe(1);
  await close(once);
});
