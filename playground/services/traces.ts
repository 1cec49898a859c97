/** A collector for spans (OTLP over HTTP, in JSON), and example traces of a run. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

type Value = {
  readonly stringValue?: string;
  readonly intValue?: number | string;
  readonly boolValue?: boolean;
  readonly arrayValue?: { readonly values: readonly Value[] };
};
type Pairs = readonly { readonly key: string; readonly value: Value }[];

/** https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/trace/v1/trace.proto, as JSON */
interface Sent {
  readonly resourceSpans: readonly {
    readonly resource?: { readonly attributes?: Pairs };
    readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[];
  }[];
}
interface SentSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes?: Pairs;
  readonly events?: readonly { readonly name: string; readonly attributes?: Pairs }[];
}

/** A span with the parts that are printed. */
export interface Span {
  readonly service: string;
  readonly trace: string;
  readonly id: string;
  readonly parent: string | undefined;
  readonly name: string;
  readonly kind: string;
  readonly startMs: number;
  readonly ms: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly string[];
}

const KINDS = ['', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER'];

const plain = ({ stringValue, intValue, boolValue, arrayValue }: Value): unknown =>
  stringValue ?? boolValue ?? (intValue === undefined ? arrayValue?.values.map(plain) : Number(intValue));
const pairs = (of: Pairs = []): Record<string, unknown> => Object.fromEntries(of.map(({ key, value }) => [key, plain(value)]));

const spanOf = (service: string, span: SentSpan): Span => ({
  service,
  trace: span.traceId,
  id: span.spanId,
  parent: span.parentSpanId || undefined,
  name: span.name,
  kind: KINDS[span.kind] ?? '',
  startMs: Number(span.startTimeUnixNano) / 1e6,
  ms: (Number(span.endTimeUnixNano) - Number(span.startTimeUnixNano)) / 1e6,
  attributes: pairs(span.attributes),
  events: (span.events ?? []).map(({ name, attributes }) =>
    [name, ...Object.entries(pairs(attributes)).flatMap(([key, value]) => (key.startsWith('oncefetch.') ? [value] : []))].join(' '),
  ),
});

export interface Collector {
  /** The URL for exporters. */
  readonly url: string;
  readonly spans: readonly Span[];
}

export async function startCollector(): Promise<Collector> {
  const spans: Span[] = [];
  const server = createServer((request, response) => {
    const take = async (): Promise<void> => {
      const { resourceSpans } = JSON.parse(Buffer.concat(await request.toArray()).toString()) as Sent;
      for (const { resource, scopeSpans } of resourceSpans) {
        const service = String(pairs(resource?.attributes)['service.name']);
        for (const { spans: sent } of scopeSpans) spans.push(...sent.map((span) => spanOf(service, span)));
      }
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    };
    // When a process is killed, its request breaks off in the middle.
    take().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`, spans };
}

const OPERATION = 'oncefetch operation';
const failed = ({ attributes }: Span): boolean => attributes['error.type'] !== undefined;

/** Whether every span between the two has arrived as well. */
function isBelow(span: Span, operation: Span, all: readonly Span[]): boolean {
  const parent = all.find(({ id, trace }) => trace === operation.trace && id === span.parent);
  return parent !== undefined && (parent === operation || isBelow(parent, operation, all));
}

/** The example traces, by name. Each one is the first operation for which its function returns `true`. */
export const STORIES: Readonly<Record<string, (operation: Span, children: readonly Span[], all: readonly Span[]) => boolean>> = {
  // With every span on the way: a copy that is killed has often sent an inner span, and never sends the outer ones.
  'from the click to the queue': (operation, _, all) =>
    operation.service === 'customers' && all.some((one) => one.service === 'orders' && one.kind === 'CLIENT' && isBelow(one, operation, all)),
  // Two attempts that both reached the wire, the first of which failed. A request to a service that had just been killed,
  // or that the client gave up on, does not count.
  'a lost answer': ({ attributes }, children, all) =>
    attributes['oncefetch.type'] === 'replayed' &&
    children.length === 2 &&
    children.every((one) => one.kind === 'CLIENT' && all.some((sent) => sent.parent === one.id && failed(sent) === failed(one))) &&
    children.filter(failed).length === 1,
  'a replay': ({ attributes }, children) => attributes['oncefetch.replayed_from'] === 'store' && children.length === 0,
  'a join': ({ events }) => events.some((event) => event.startsWith('oncefetch.call_joined')),
  // Done by another copy than the one that was killed.
  'a take-over': ({ service, attributes }, children) =>
    service !== 'customers' && attributes['oncefetch.resumed'] === true && attributes['oncefetch.effect'] === 'done' && children.length > 0,
};

const SHOWN = [
  'oncefetch.effect',
  'oncefetch.type',
  'oncefetch.reason',
  'oncefetch.replayed_from',
  'oncefetch.resumed',
  'http.request.resend_count',
  'http.response.status_code',
  'error.type',
];

function lines(spans: readonly Span[], span: Span, depth: number): string[] {
  const { service, name, kind, ms, attributes, events } = span;
  const called = attributes['oncefetch.operation.name'];
  const facts = SHOWN.flatMap((key) => (attributes[key] === undefined ? [] : [`${key.replace(/^oncefetch\./, '')}=${attributes[key]}`]));
  const own = `${'  '.repeat(depth)}${service}: ${name}${Array.isArray(called) ? ` ${called.join(' ')}` : ''} ${kind} ${ms.toFixed(0)} ms ${[...facts, ...events.map((event) => `[${event}]`)].join(' ')}`;
  const children = spans.filter(({ parent }) => parent === span.id).sort((a, b) => a.startMs - b.startMs);
  return [own.trimEnd(), ...children.flatMap((child) => lines(spans, child, depth + 1))];
}

/** Finds the example traces: one operation with all its descendants, one line for each span. */
export function stories(spans: readonly Span[]): Readonly<Record<string, readonly string[]>> {
  const childrenOf = new Map<string, Span[]>();
  for (const span of spans) if (span.parent) childrenOf.set(span.parent, [...(childrenOf.get(span.parent) ?? []), span]);
  const operations = spans.filter(({ name }) => name === OPERATION);
  return Object.fromEntries(
    Object.entries(STORIES).map(([what, fits]) => {
      const found = operations.find((one) => fits(one, childrenOf.get(one.id) ?? [], spans));
      const below = found ? spans.filter(({ trace }) => trace === found.trace) : [];
      return [what, found ? lines(below, found, 1) : []];
    }),
  );
}
