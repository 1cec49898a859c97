/** Starts programs that never outlive this process, even if it ends by an error, a signal or SIGKILL. Does not work on Windows. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import type { Socket } from 'node:net';

/**
 * A shell runs between this process and the program, in its own process group. Its input is a pipe that only this process holds. When
 * the pipe closes, the shell sends SIGTERM to the whole group, and SIGKILL a second later. The shell ends when the program does.
 */
const GUARD = `
exec 4<&0
trap : TERM
"$@" </dev/null 4<&- &
program=$!
{ trap '' TERM; cat <&4 >/dev/null; kill -TERM 0; sleep 1; kill -KILL 0; } &
while kill -0 $program 2>/dev/null; do wait $program; done
`;

export interface Guarded {
  readonly process: ChildProcess;
  readonly pid: number;
  /** Resolves when the program has ended, to its last output on stderr. */
  readonly ended: Promise<string>;
  /** Ends the program and everything that it started. */
  stop(): Promise<void>;
}

const SAID_MAX = 4000;

/** Starts a program; `fd3` opens a pipe for it to write to. */
export function startGuarded(command: string, args: readonly string[], { env, fd3 = false }: { env?: NodeJS.ProcessEnv; fd3?: boolean } = {}): Guarded {
  const stdio: SpawnOptions['stdio'] = ['pipe', 'ignore', 'pipe', ...(fd3 ? ['pipe' as const] : [])];
  const child = spawn('/bin/sh', ['-c', GUARD, 'sh', command, ...args], { stdio, detached: true, env: env ?? process.env });
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-SAID_MAX)));
  const ended = new Promise<string>((resolve) => {
    const end = (why: string) => {
      child.stdin?.destroy();
      resolve(said.trim() || why);
    };
    child.once('error', (error) => end(String(error)));
    child.once('exit', (code, signal) => end(`it ended with ${signal ?? code}`));
  });
  child.stdin?.on('error', () => {});
  // The program must not keep this process alive, because it is meant to end together with it.
  const hold = (how: 'ref' | 'unref') => {
    child[how]();
    for (const stream of child.stdio) (stream as Socket | null)?.[how]();
  };
  hold('unref');
  return {
    process: child,
    pid: child.pid ?? 0,
    ended,
    async stop() {
      hold('ref');
      child.stdin?.destroy();
      await ended;
    },
  };
}
