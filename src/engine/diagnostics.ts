/** Signs that something is set up wrongly: each told once, with a code that docs/diagnostics.md explains. */
import type { Answer } from '../core/dialect.js';
import type { ReplayableRequest } from '../http/request.js';
import { type DiagnosticCode, diagnosticText } from '../texts/full.js';
import type { AttemptRequest, OperationRun } from './client.js';
import { diagnose } from './observe.js';
import { keepRecentIn } from './registry.js';

/** Places that are remembered: a server may have one for each order. */
const PLACES_MAX = 1000;

/** Emits a diagnostic once for each place. */
export function notice(job: OperationRun, key: string, code: DiagnosticCode, where: string): void {
  const { noticed } = job.client.registry;
  if (noticed.has(`${code} ${where}`)) return;
  keepRecentIn(noticed, `${code} ${where}`, PLACES_MAX);
  diagnose(job.client, job, key, code, diagnosticText(code, where));
}

/** The endpoint without its query: a server that ignores keys for one query ignores them for all. */
export const endpointOf = ({ method, url }: Pick<ReplayableRequest, 'method' | 'url'>): string => `${method} ${url.split('?')[0]}`;

/** Diagnostics that follow from an answer. */
export function noticeAnswer({ job, key, ambiguous }: AttemptRequest, prepared: ReplayableRequest, answer: Answer): void {
  const { origin } = prepared;
  if (/^\s*ignored\s*$/i.test(answer.header('idempotency-status') ?? answer.header('x-idempotency-status') ?? '')) {
    keepRecentIn(job.client.registry.ignored, endpointOf(prepared), PLACES_MAX);
    notice(job, key, 'key-ignored', endpointOf(prepared));
  }
  if (answer.type !== 'cors') return;
  if ([409, 423, 429, 503].includes(answer.status) && answer.header('retry-after') === null) notice(job, key, 'retry-after-hidden', origin);
  if (ambiguous && answer.status < 300 && !job.settings.dialect.replayed(answer)) notice(job, key, 'replay-hidden', origin);
}

/** Diagnostics that follow from attempts without an answer. */
export function noticeSilence({ job, key, number }: AttemptRequest, { origin }: ReplayableRequest): void {
  const { platform } = job.client;
  const foreign = platform.origin !== undefined && platform.origin !== origin;
  if (foreign && number >= 2 && platform.connectivity.online() !== false) notice(job, key, 'preflight-suspected', origin);
}
