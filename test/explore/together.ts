/** Explores several variants at a time, each in a process of its own. */
import { fork } from 'node:child_process';
import type { Explored } from './explore.js';

export interface Together {
  readonly variants: readonly string[];
  readonly jobs: number;
  /** The time for all variants together. Each gets its share of the time that is left when it begins. */
  readonly ms: number;
  /** The arguments with which the child starts this same program for one variant. What the child prints is ignored. */
  readonly args: readonly string[];
  heard(one: Explored): void;
}

/** Explores each variant in a child, which sends what it found. */
export async function together({ variants, jobs, ms, args, heard }: Together): Promise<readonly Explored[]> {
  const began = performance.now();
  const waiting = [...variants];
  const all: Explored[] = [];
  const work = async (): Promise<void> => {
    for (let variant = waiting.shift(); variant !== undefined; variant = waiting.shift()) {
      const left = ms - (performance.now() - began);
      const one = await inChild([...args, '--variant', variant, '--minutes', String((left * jobs) / (waiting.length + jobs) / 60_000)]);
      all.push(one);
      heard(one);
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  return all;
}

const inChild = (args: readonly string[]): Promise<Explored> =>
  new Promise((resolve, reject) => {
    const child = fork(process.argv[1] as string, args, { serialization: 'advanced' });
    let said: Explored | undefined;
    child.on('message', (one) => void (said = one as Explored));
    child.on('error', reject);
    child.on('close', (code) => (said ? resolve(said) : reject(new Error(`exploring ${args.join(' ')} ended with status ${code} and said nothing`))));
  });
