/** The target of the probe, from a plan. */
import { NotTried, type ProbeRequest, type ProbeTarget } from '../request.js';
import type { Plan } from './arguments.js';
import { counter } from './count.js';
import { fill } from './template.js';

const CREDENTIALS = /^(authorization|cookie|x-api-key)$/i;

/** Whether the request has a credential that could be replaced by a wrong one. */
export const hasLogin = ({ headers }: Plan['request']): boolean => headers.some(([name]) => CREDENTIALS.test(name));

/** The headers for a login; `undefined` if the request has no credential that could be refused, or if no second account was given. */
function headersFor({ request, other }: Plan, login: ProbeRequest['login']): Plan['request']['headers'] | undefined {
  if (login === 'own') return request.headers;
  const kept = request.headers.filter(([name]) => !other.some(([replaced]) => replaced.toLowerCase() === name.toLowerCase()));
  if (login === 'other') return other.length > 0 ? [...kept, ...other] : undefined;
  return hasLogin(request) ? request.headers.map(([name, value]) => [name, CREDENTIALS.test(name) ? 'refused' : value] as const) : undefined;
}

const NO_BODY: Readonly<Record<ProbeRequest['payload'], string>> = {
  usual: '',
  changed: 'the body has no number or text to change; --changed-body gives one',
  refused: 'no --refused-body was given',
  'fails-once': 'only serverContract of oncefetch/testing has such work',
};
const NO_LOGIN: Readonly<Record<ProbeRequest['login'], string>> = {
  own: '',
  other: 'no second account was given by --as',
  refused: 'no --header has a credential',
};

export function targetOf(plan: Plan): ProbeTarget {
  const { request, bodies, elsewhere, counting } = plan;
  const payloads: Readonly<Record<ProbeRequest['payload'], string | undefined>> = { usual: request.body, ...bodies, 'fails-once': undefined };
  return {
    url: () => request.url,
    ...(elsewhere !== undefined && { elsewhere: () => elsewhere }),
    ...(counting && { count: counter(counting) }),
    send({ url, key, operation, payload, login }) {
      const headers = headersFor(plan, login);
      const body = payloads[payload];
      if (!headers) throw new NotTried(NO_LOGIN[login]);
      if (payload !== 'usual' && body === undefined) throw new NotTried(NO_BODY[payload]);
      const filled = headers.map(([name, value]): [string, string] => [name, fill(value, { key, operation })]);
      return fetch(fill(url, { key, operation }), {
        method: request.method,
        headers: filled,
        redirect: 'manual',
        ...(body !== undefined && { body: fill(body, { key, operation }) }),
      });
    },
  };
}
