/** Pending records, names that begin differently in turns: a backlog of one kind does not hold up the others. */
import type { OperationName } from '../core/name.js';
import type { OnceRecord } from '../core/record.js';
import type { Client } from './client.js';
import { PAGE, type Pages, pendingIn } from './records.js';

/** Kinds that take turns; where there are more, the next one comes when one of these is through. */
const KINDS_MAX = 8;

/** Which record it is. The record itself is not held: there may be a request in it. */
export type Waiting = Pick<OnceRecord, 'id' | 'key' | 'label'>;

interface Look {
  readonly found: Waiting[];
  /** Where there are more; `undefined`: nowhere. */
  readonly next: string | undefined;
}

/** What is left of one kind: no more than a page of it is held. */
interface Lane extends Look {
  readonly kind: string;
}

/** Each pending record once, as a listing by name gives them, but kind by kind in turns. */
export async function* pendingInTurns(client: Client, namespace: string, prefix: OperationName | undefined): AsyncGenerator<Waiting> {
  for (const pages of await pendingIn(client, namespace, prefix)) yield* turns(pages, (prefix?.length ?? 0) + 1);
}

async function look(pages: Pages, start: string | undefined, after: string | undefined): Promise<Look> {
  const { found, next } = await pages(start, after, PAGE);
  return { found: found.map(({ record: { id, key, label } }) => ({ id, key, label })), next };
}

async function* turns(pages: Pages, parts: number): AsyncGenerator<Waiting> {
  const kindOf = kindsBy(parts);
  let lanes: Lane[] = [];
  /** Behind it are kinds not met so far; `undefined`: there are none. */
  let rest: string | undefined = '';
  while (rest !== undefined || lanes.length > 0) {
    while (lanes.length < KINDS_MAX && rest !== undefined) {
      const seen: Look = await look(pages, undefined, rest || undefined);
      const met = lanesOf(seen, kindOf);
      lanes.push(...met);
      // Behind all of the last kind, whose own records its lane goes on with.
      rest = seen.next && (met.length ? JSON.stringify([`${met.at(-1)?.kind}\uffff`, '']) : seen.next);
    }
    const left: Lane[] = [];
    for (const lane of lanes) {
      const { kind, found, next } = lane;
      const [first] = found.splice(0, 1);
      if (first) yield first;
      if (found.length > 0) left.push(lane);
      else if (next !== undefined) left.push({ kind, ...(await look(pages, kind, next)) });
    }
    lanes = left;
  }
}

/** Records of one page, which are in the order of their labels, by kind. Only the last kind can go on behind it. */
function lanesOf({ found, next }: Look, kindOf: (label: string) => string): Lane[] {
  const lanes: Lane[] = [];
  for (const one of found) {
    const kind = kindOf(one.label);
    const last = lanes.at(-1);
    if (last?.kind === kind) last.found.push(one);
    else lanes.push({ kind, found: [one], next: undefined });
  }
  return lanes.map((lane, at) => (at === lanes.length - 1 ? { ...lane, next } : lane));
}

/** How the label begins, up to so many parts of the name and what follows them: `["pay",`. Unnamed ones are one kind. */
const kindsBy =
  (parts: number) =>
  (label: string): string =>
    label[0] === '[' ? label.slice(0, JSON.stringify((JSON.parse(label) as unknown[]).slice(0, parts)).length) : label.slice(0, 1);
