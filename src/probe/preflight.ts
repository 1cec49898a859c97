/** Tests what a page of another origin may do: whether the preflight allows the key, and which headers the page can read. */
import type { Bench } from './bench.js';
import { NotTried } from './request.js';
import type { Found } from './row.js';

const ORIGIN = 'https://probe.example';
/** Response headers that a client reads if the server sends them. */
const READ = ['idempotent-replayed', 'retry-after', 'location'];

const listed = (value: string | null): string[] =>
  (value ?? '')
    .toLowerCase()
    .split(/\s*,\s*/)
    .filter(Boolean);

export async function preflight(bench: Bench): Promise<Found> {
  const [, header = ''] = /^header(?:-sf)?:([^+]+)/.exec(bench.dialect.carrier) ?? [];
  if (!header) throw new NotTried('the key is in no header');
  const asked = { origin: ORIGIN, 'access-control-request-method': 'POST', 'access-control-request-headers': `content-type, ${header.toLowerCase()}` };
  const answer = await bench.options(asked);
  if (!answer) return { answers: [undefined], effects: undefined, finding: 'no-answer' };
  const allowed = listed(answer.headers.get('access-control-allow-headers'));
  const origin = answer.headers.get('access-control-allow-origin');
  const answers = [answer];
  if (answer.status > 299 || origin === null || !(allowed.includes('*') || allowed.includes(header.toLowerCase())))
    return { answers, effects: undefined, finding: 'cors-refuses' };
  const operation = bench.operation();
  const { value, effects } = await bench.counting(async () => [
    await bench.send(operation),
    await bench.sendInto({ kind: 'header', name: 'origin', value: ORIGIN }, operation),
  ]);
  if (effects !== undefined && effects > 1) return { answers: [answer, ...value], effects, finding: 'doubles' };
  const read = listed(value[1]?.headers.get('access-control-expose-headers') ?? null);
  const hidden = READ.filter((name) => value[1]?.headers.has(name) && !read.includes(name) && !read.includes('*'));
  return { answers: [answer, ...value], effects, finding: hidden.length > 0 ? 'cors-hides' : 'cors-allows' };
}
