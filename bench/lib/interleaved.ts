/**
 * Runs cases in turn, each between two runs of the base, so that other load on the machine affects all of them equally. Only ratios and
 * differences within one round are compared.
 */
import { type Spread, spread } from './stats.ts';

/** One measurement: wall and CPU time of a call, µs. */
export interface Cost {
  readonly wall: number;
  readonly cpu: number;
}

export interface Compared {
  /** CPU time of a call, µs. */
  readonly cpu: Spread;
  /** Ratio to the base of the same round. */
  readonly ratio: Spread;
  /** Time above the base of the same round, µs. */
  readonly added: Spread;
  readonly addedCpu: Spread;
}

/** Runs `call` `calls` times, `atOnce` of them at a time. */
export async function costOf(call: () => Promise<unknown>, calls: number, atOnce = 1): Promise<Cost> {
  const cpu = process.cpuUsage();
  const start = performance.now();
  let left = calls;
  const lane = async (): Promise<void> => {
    while (left-- > 0) await call();
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  const wall = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  await new Promise((done) => setImmediate(done));
  return { wall: (wall * 1000) / calls, cpu: (user + system) / calls };
}

/** Rounds that do not count, so that V8 has compiled the code: its compiler threads would count as CPU time of the call. */
const WARM = 8;

/**
 * `measure` runs one case once. `base` is the name of the case with which the others are compared. It is also compared
 * with itself, which shows the noise.
 */
export async function interleaved<Name extends string>(
  names: readonly Name[],
  base: Name,
  rounds: number,
  measure: (name: Name) => Promise<Cost>,
): Promise<Record<Name, Compared>> {
  const seen = Object.fromEntries(names.map((name) => [name, [] as { own: Cost; base: Cost }[]])) as Record<Name, { own: Cost; base: Cost }[]>;
  for (const name of names) for (let warm = 0; warm < WARM; warm++) await measure(name);
  let before = await measure(base);
  for (let round = 0; round < rounds; round++) {
    for (const name of round % 2 ? names : [...names].reverse()) {
      const own = await measure(name);
      const after = await measure(base);
      seen[name].push({ own, base: { wall: (before.wall + after.wall) / 2, cpu: (before.cpu + after.cpu) / 2 } });
      before = after;
    }
  }
  const compared = (pairs: readonly { own: Cost; base: Cost }[]): Compared => ({
    cpu: spread(pairs.map(({ own }) => own.cpu)),
    ratio: spread(pairs.map(({ own, base }) => own.wall / base.wall)),
    added: spread(pairs.map(({ own, base }) => own.wall - base.wall)),
    addedCpu: spread(pairs.map(({ own, base }) => own.cpu - base.cpu)),
  });
  return Object.fromEntries(names.map((name) => [name, compared(seen[name])])) as Record<Name, Compared>;
}
