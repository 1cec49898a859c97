/** Tells inside of which functions of operations a call is made. */
import type { Nested, Platform } from '../../ports.js';
import { builtin } from '../shared.js';

/**
 * `nested` is absent once the function has ended. What it left behind may still run in its context, and what lives long there, such as a connection that it
 * opened, would keep the call in memory.
 */
interface Inside {
  nested: Nested | undefined;
  outer: Inside | undefined;
}
type Storage = { run<T>(inside: Inside, work: () => T): T; getStore(): Inside | undefined };

/** From this version on, an AsyncLocalStorage costs next to nothing. In earlier ones it slows down every promise of the process. */
const NODE_MIN = 24;

const REALM = Symbol.for('oncefetch.nesting');

/** Found by a symbol, because copies of the package share their operations: a function that one runs may call another one under its own name. */
const realm = () => globalThis as { [REALM]?: Storage };

const opened = (): Storage => {
  const here = realm();
  here[REALM] ??= new (builtin<{ AsyncLocalStorage: new () => Storage }>('node:async_hooks') as { AsyncLocalStorage: new () => Storage }).AsyncLocalStorage();
  return here[REALM];
};

/** The innermost function that is at work. Those that have ended are cut out, or a job that starts itself again would keep all its earlier runs. */
function atWork(): Inside | undefined {
  const past = (inside: Inside | undefined): Inside | undefined => {
    let next = inside;
    while (next && !next.nested) next = next.outer;
    return next;
  };
  const innermost = past(realm()[REALM]?.getStore());
  for (let inside = innermost; inside; inside = inside.outer) inside.outer = past(inside.outer);
  return innermost;
}

async function run<T>(nested: Nested, work: () => T): Promise<Awaited<T>> {
  const inside: Inside = { nested, outer: atWork() };
  try {
    return await opened().run(inside, work);
  } finally {
    inside.nested = undefined;
  }
}

function around(): readonly Nested[] {
  const all: Nested[] = [];
  for (let inside = atWork(); inside; inside = inside.outer) all.push(inside.nested as Nested);
  return all;
}

export const nesting: Platform['nesting'] = Number.parseInt(globalThis.process?.versions?.node ?? '', 10) >= NODE_MIN ? { run, around } : undefined;
