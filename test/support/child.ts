/** Node processes that run parts of the sources, for behaviour that only real processes show. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export interface Child {
  readonly process: ChildProcess;
  /** The lines that it has printed so far. */
  readonly lines: readonly string[];
  /** Resolves with the first line for which `is` returns true. */
  line(is: (line: string) => boolean): Promise<string>;
  /** Calls the listener with each line from now on. */
  heard(listener: (line: string) => void): void;
  /** Resolves when the process has ended, with its exit code, or the signal that killed it. */
  readonly ended: Promise<number | string>;
  say(line: string): void;
}

/** Bundles a script of a test, because the sources import `.js` where the files are `.ts`, which Node cannot resolve. */
export function script(entry: string): {
  readonly path: string;
  start(args: readonly string[], uid?: number, flags?: readonly string[]): Child;
  remove(): void;
} {
  const folder = mkdtempSync(join(tmpdir(), 'oncefetch-script-'));
  const path = join(folder, 'script.mjs');
  // Runs esbuild by its command line: its library shares one service process with the test runner, which may stop it.
  const esbuild = join(import.meta.dirname, '../../node_modules/.bin/esbuild');
  // Some bundled libraries are CommonJS and need `require`.
  const require = "--banner:js=import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";
  const args = ['--bundle', '--platform=node', '--format=esm', '--target=node22', '--external:pg-native', '--log-level=error', require];
  execFileSync(esbuild, [entry, `--outfile=${path}`, ...args], { stdio: 'inherit' });
  return { path, start: (args, uid, flags) => start(path, args, uid, flags), remove: () => rmSync(folder, { recursive: true, force: true }) };
}

function start(path: string, args: readonly string[], uid: number | undefined, flags: readonly string[] = []): Child {
  const child = spawn(process.execPath, [...flags, path, ...args], { stdio: ['pipe', 'pipe', 'inherit'], ...(uid !== undefined && { uid, gid: uid }) });
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
