/** Runs cases that measure themselves, one call of each in turn, for slow cases and for browsers. Uses nothing of Node. */

/** Runs the case once, and resolves to its time, µs. */
export type Case = () => Promise<number>;

/** The median of each round, µs, by case. */
export type Rounds = Readonly<Record<string, readonly number[]>>;

export const elapsed = async (work: () => Promise<unknown> | unknown): Promise<number> => {
  const start = performance.now();
  await work();
  return (performance.now() - start) * 1000;
};

const middle = (numbers: readonly number[]): number => [...numbers].sort((a, b) => a - b)[numbers.length >> 1] ?? Number.NaN;

/** Shuffles the cases. Each one leaves caches and databases warm or cold, so none may always follow the same other one. */
function shuffled<T>(of: readonly T[]): T[] {
  const left = [...of];
  return of.map(() => left.splice(Math.floor(Math.random() * left.length), 1)[0] as T);
}

/** Rounds until the code of a call in a page is compiled. */
export const WARM = 12;

/** `rounds` medians of `calls` calls, the cases in turn, in a new order each time, after `warm` rounds that do not count. */
export async function inTurns(cases: Readonly<Record<string, Case>>, rounds: number, calls: number, warm = 1): Promise<Rounds> {
  const names = Object.keys(cases);
  const medians = Object.fromEntries(names.map((name) => [name, [] as number[]]));
  for (let round = -warm; round < rounds; round++) {
    const seen = Object.fromEntries(names.map((name) => [name, [] as number[]]));
    for (let call = 0; call < calls; call++) for (const name of shuffled(names)) (seen[name] as number[]).push(await (cases[name] as Case)());
    if (round >= 0) for (const name of names) (medians[name] as number[]).push(middle(seen[name] as number[]));
  }
  return medians;
}

export const ANSWER = '{"ok":true,"id":"pay_123"}';

/** Measures a client's call from its start to its first byte. The client must be created with this object's `fetch`. */
export class FirstByte {
  readonly #answer: () => Response;
  #at = 0;
  constructor(answer = () => new Response(ANSWER, { status: 201, headers: { 'content-type': 'application/json' } })) {
    this.#answer = answer;
  }
  readonly fetch = async (): Promise<Response> => {
    this.#at = performance.now();
    return this.#answer();
  };
  readonly of = async (call: () => Promise<unknown>): Promise<number> => {
    const start = performance.now();
    await call();
    return (this.#at - start) * 1000;
  };
}
