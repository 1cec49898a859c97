/**
 * Names of attributes, events and metrics. Those of HTTP are the stable conventions; ours are below `oncefetch`, by the rules for
 * names: https://opentelemetry.io/docs/specs/semconv/general/naming/. By these, no name may be the prefix of another one.
 */

/** https://opentelemetry.io/docs/specs/semconv/http/http-spans/#http-client-span */
export const HTTP = {
  method: 'http.request.method',
  originalMethod: 'http.request.method_original',
  resendCount: 'http.request.resend_count',
  statusCode: 'http.response.status_code',
  serverAddress: 'server.address',
  serverPort: 'server.port',
  url: 'url.full',
  errorType: 'error.type',
} as const;

/** Attributes of spans; metrics have some of them, too. */
export const ATTRIBUTES = {
  effect: 'oncefetch.effect',
  type: 'oncefetch.type',
  reason: 'oncefetch.reason',
  replayedFrom: 'oncefetch.replayed_from',
  duplicate: 'oncefetch.duplicate.kind',
  conflict: 'oncefetch.conflict.kind',
  attempts: 'oncefetch.attempt.count',
  attempt: 'oncefetch.attempt.number',
  resumed: 'oncefetch.resumed',
  joinedCalls: 'oncefetch.joined_calls',
  storedIn: 'oncefetch.stored_in',
  waitReason: 'oncefetch.wait.reason',
  diagnostic: 'oncefetch.diagnostic.code',
  name: 'oncefetch.operation.name',
  key: 'oncefetch.key',
} as const;

export const SPANS = { operation: 'oncefetch operation', effect: 'oncefetch attempt' } as const;

export const EVENTS = {
  joined: 'oncefetch.call_joined',
  wait: 'oncefetch.waiting',
  claimLost: 'oncefetch.claim_lost',
  diagnostic: 'oncefetch.diagnosed',
} as const;

export const METRICS = {
  operations: 'oncefetch.operations',
  attempts: 'oncefetch.operation.attempts',
  certainty: 'oncefetch.operation.time_to_certainty',
  duplicates: 'oncefetch.duplicates',
  conflicts: 'oncefetch.conflicts',
  unsettled: 'oncefetch.unsettled.count',
  age: 'oncefetch.unsettled.age',
} as const;
