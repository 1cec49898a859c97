/** Goal: an example trace is a whole one, although copies of the services are killed before they have sent all their spans. */
import { expect, test } from 'vitest';
import { type Span, stories } from '../../playground/services/traces.ts';

const WAY: readonly (readonly [service: string, name: string, kind: string])[] = [
  ['customers', 'oncefetch operation', 'INTERNAL'],
  ['customers', 'POST', 'CLIENT'],
  ['customers', 'POST', 'CLIENT'],
  ['orders', 'oncefetch operation', 'INTERNAL'],
  ['orders', 'oncefetch attempt', 'INTERNAL'],
  ['orders', 'POST', 'CLIENT'],
];
const traceOf = (trace: string): Span[] =>
  WAY.map(([service, name, kind], depth) => ({
    ...{ service, trace, name, kind, id: `${trace}-${depth}`, parent: depth === 0 ? undefined : `${trace}-${depth - 1}` },
    ...{ startMs: depth, ms: 1, attributes: {}, events: [] },
  }));
const fromTheClick = (spans: readonly Span[]) => stories(spans)['from the click to the queue']?.length;

test('a trace whose copy was killed before it sent its operation is no example', () => {
  const broken = traceOf('killed').filter((_, depth) => depth !== 3);
  expect(fromTheClick(broken)).toBe(0);
  expect(fromTheClick([...broken, ...traceOf('whole')])).toBe(WAY.length);
});
