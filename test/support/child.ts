/** Node processes that run a piece of our sources, for what only real processes show. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export interface Child {
  readonly process: ChildProcess;
  /** What it has printed so far, by line. */
  readonly lines: readonly string[];
  /** Resolves at the first line that `is` what is waited for. */
  line(is: (line: string) => boolean): Promise<string>;
  /** Calls back on each line from now on. */
  heard(listener: (line: string) => void): void;
  /** Resolves when it has ended, with its exit code, or the signal that killed it. */
  readonly ended: Promise<number | string>;
  say(line: string): void;
}

/** Bundles a test's script, because Node finds no `.ts` where `.js` is written. */
export function script(entry: string): { readonly path: string; start(args: readonly string[], uid?: number): Child; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'oncefetch-script-'));
  const path = join(folder, 'script.mjs');
  // By its command line: the library's service is shared with the test runner, which may end it.
  const esbuild = join(import.meta.dirname, '../../node_modules/.bin/esbuild');
  // Some libraries are CommonJS.
  const require = "--banner:js=import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";
  const args = ['--bundle', '--platform=node', '--format=esm', '--target=node22', '--external:pg-native', '--log-level=error', require];
  execFileSync(esbuild, [entry, `--outfile=${path}`, ...args], { stdio: 'inherit' });
  return { path, start: (args, uid) => start(path, args, uid), remove: () => rmSync(folder, { recursive: true, force: true }) };
}

function start(path: string, args: readonly string[], uid: number | undefined): Child {
  const child = spawn(process.execPath, [path, ...args], { stdio: ['pipe', 'pipe', 'inherit'], ...(uid !== undefined && { uid, gid: uid }) });
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  const output = createInterface({ input: child.stdout });
  output.on('line', (line) => {
    lines.push(line);
    for (const look of waiting) look();
  });
  const ended = new Promise<number | string>((resolve) => child.once('close', (code, signal) => resolve(code ?? signal ?? 'gone')));
  return {
    process: child,
    lines,
    ended,
    line: (is) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = lines.find(is);
          if (found === undefined) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
        void ended.then((how) => reject(new Error(`the process ended (${how}) after: ${lines.slice(-5).join(' | ')}`)));
      }),
    heard: (listener) => void output.on('line', listener),
    say: (line) => void child.stdin.write(`${line}\n`),
  };
}
