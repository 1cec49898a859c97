/**
 * oncefetch by OpenTelemetry. A span per operation, with its attempts as children; and what an operator asks for: how calls
 * ended, how many answers were replays, key conflicts, and how old the oldest operation is that nobody has settled.
 */

import { context, type Meter, type Span, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import { type Once, type OnceEvent, type Outcome, pending, subscribe } from 'oncefetch';

/** Unsettled operations that are looked at for each report. */
const PENDING_MAX = 1000;

/** Hand `onOutcome` to `createOnce`, and what that gives to `watch`. */
export function telemetry(tracer: Tracer, meter: Meter): { readonly onOutcome: (outcome: Outcome) => void; watch(once: Once): () => void } {
  // The first part of a name is its kind; the others are as many as there are carts.
  const kind = (operation: OnceEvent['operation']) => ({ 'once.operation': String(operation?.[0] ?? 'unnamed') });
  const outcomes = meter.createCounter('once.outcomes', { description: 'Calls by how they ended; those of type replayed are the replay rate' });
  const attempts = meter.createCounter('once.attempts');
  const conflicts = meter.createCounter('once.key_conflicts', { description: 'Keys that met work in progress, or another payload' });
  const unsettled = meter.createObservableGauge('once.unsettled', { description: 'Operations that nobody has settled' });
  const oldest = meter.createObservableGauge('once.unsettled.age', { unit: 's', description: 'Age of the oldest of them' });
  const open = new Map<string, { readonly operation: Span; attempt?: Span | undefined }>();

  const spansOf = ({ key, at, operation }: OnceEvent) => {
    const known = open.get(key);
    if (known) return known;
    const made = { operation: tracer.startSpan(`once ${operation?.[0] ?? 'unnamed'}`, { startTime: at, attributes: { ...kind(operation), 'once.key': key } }) };
    open.set(key, made);
    return made;
  };

  const hear = (event: OnceEvent): void => {
    if (event.type === 'diagnostic' || event.key === '') return; // no key yet: it waits for another process
    const { key, at } = event;
    const spans: { readonly operation: Span; attempt?: Span | undefined } = spansOf(event);
    // Whatever comes next, the attempt is over.
    spans.attempt?.end(at);
    spans.attempt = undefined;
    if (event.type === 'attempt') {
      const parent = trace.setSpan(context.active(), spans.operation);
      spans.attempt = tracer.startSpan('once attempt', { startTime: at, attributes: { 'once.attempt': event.attempt } }, parent);
      attempts.add(1, kind(event.operation));
    } else if (event.type === 'wait') {
      spans.operation.addEvent('wait', { 'once.why': event.why }, at);
      if (event.why === 'in-progress') conflicts.add(1, { ...kind(event.operation), 'once.conflict': 'in-progress' });
    } else {
      const { type, effect, resumed, ...more } = event.outcome;
      spans.operation.setAttributes({ 'once.type': type, 'once.effect': effect, 'once.resumed': resumed });
      if (effect === 'unknown') spans.operation.setStatus({ code: SpanStatusCode.ERROR, message: 'reason' in more ? more.reason : type });
      spans.operation.end(at);
      open.delete(key);
    }
  };

  return {
    // Of every call, also of those that were answered from what is remembered.
    onOutcome(outcome) {
      const { operation, type, effect } = outcome;
      outcomes.add(1, { ...kind(operation), 'once.type': type, 'once.effect': effect });
      if ('reason' in outcome && outcome.reason === 'mismatch') conflicts.add(1, { ...kind(operation), 'once.conflict': 'mismatch' });
    },
    watch(once) {
      const stop = subscribe(once, hear);
      const look = async (report: { observe(gauge: typeof oldest, value: number): void }) => {
        const left = await pending(once, { limit: PENDING_MAX });
        const since = Math.min(...left.map(({ createdAt }) => createdAt), Date.now());
        report.observe(unsettled, left.length);
        report.observe(oldest, (Date.now() - since) / 1000);
      };
      meter.addBatchObservableCallback(look, [unsettled, oldest]);
      return () => {
        stop();
        meter.removeBatchObservableCallback(look, [unsettled, oldest]);
      };
    },
  };
}
