/** Signs that something is set up wrongly: each told once, with a code that docs/diagnostics.md explains. */
import type { Answer } from '../core/dialect.js';
import type { OperationRun } from './client.js';
import { diagnose } from './observe.js';
import type { AttemptRequest } from './payload.js';
import type { ReplayableRequest } from './prepared.js';

const SAYS = {
  'retry-after-hidden':
    'a cross-origin answer asks to come back later, and no Retry-After can be read: the server must list it in Access-Control-Expose-Headers',
  'replay-hidden': 'a cross-origin answer may be a replay, and no marker can be read: the server must list it in Access-Control-Expose-Headers',
  'preflight-suspected': 'no attempt was answered, though the device is online: the server may have to list the key header in Access-Control-Allow-Headers',
  'key-ignored': 'the server says that it ignored the key: nothing is sent there twice from now on',
  'reconcile-unproven':
    "what reconcile gave proves nothing, so the operation stays unknown: it must give 'done', 'none', 'unknown', or a Response of 2xx that can be read",
  'insecure-origin': 'an insecure origin has no Web Crypto and no Web Locks: tabs do not wait for one another',
} as const;

/** Tells it once for each place. */
export function notice(job: OperationRun, key: string, code: keyof typeof SAYS, where: string): void {
  const { noticed } = job.client.registry;
  if (noticed.has(`${code} ${where}`)) return;
  noticed.add(`${code} ${where}`);
  diagnose(job.client, job, key, code, `${SAYS[code]} (docs/diagnostics.md#${code}; ${where})`);
}

/** The endpoint without its query: what a server ignores for one it ignores for all. */
export const endpointOf = ({ method, url }: Pick<ReplayableRequest, 'method' | 'url'>): string => `${method} ${url.split('?')[0]}`;

/** What an answer gives away. */
export function noticeAnswer({ job, key, ambiguous }: AttemptRequest, prepared: ReplayableRequest, answer: Answer): void {
  const { origin } = prepared;
  if (/^\s*ignored\s*$/i.test(answer.header('idempotency-status') ?? answer.header('x-idempotency-status') ?? '')) {
    job.client.registry.ignored.add(endpointOf(prepared));
    notice(job, key, 'key-ignored', endpointOf(prepared));
  }
  if (answer.type !== 'cors') return;
  if ([409, 429, 503].includes(answer.status) && answer.header('retry-after') === null) notice(job, key, 'retry-after-hidden', origin);
  if (ambiguous && answer.status < 300 && !job.settings.dialect.replayed(answer)) notice(job, key, 'replay-hidden', origin);
}

/** What attempts without any answer give away. */
export function noticeSilence({ job, key, number }: AttemptRequest, { origin }: ReplayableRequest): void {
  const { platform } = job.client;
  const foreign = platform.origin !== undefined && platform.origin !== origin;
  if (foreign && number >= 2 && platform.connectivity.online() !== false) notice(job, key, 'preflight-suspected', origin);
}
