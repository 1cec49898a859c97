/** Starts a real Prometheus for the playground and its test, on a free loopback port and in its own folder. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { executablesOf, howToGet } from './executables.mjs';
import { prometheus } from './services.mjs';
import { freePort } from './start-services.ts';

const START_MS_MAX = 20_000;
const [program] = executablesOf(prometheus) ?? [];
/** Why Prometheus can't be started here, and how to get it. `undefined` if it can. */
export const withoutPrometheus = program ? undefined : `there is no prometheus here: ${howToGet(prometheus)}`;

export interface PrometheusServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** @param jobs the ports of this machine to scrape, by job name */
export async function startPrometheus(jobs: Readonly<Record<string, readonly number[]>>, scrapeEveryMs: number): Promise<PrometheusServer> {
  if (!program) throw new Error(withoutPrometheus);
  const [port, folder] = [await freePort(), mkdtempSync(join(tmpdir(), 'oncefetch-prometheus-'))];
  const scrapes = Object.entries(jobs).map(([name, ports]) => ({ job_name: name, static_configs: [{ targets: ports.map((one) => `127.0.0.1:${one}`) }] }));
  // JSON, because every JSON document is also YAML.
  writeFileSync(
    join(folder, 'prometheus.yml'),
    JSON.stringify({ global: { scrape_interval: `${scrapeEveryMs}ms`, scrape_timeout: `${scrapeEveryMs}ms` }, scrape_configs: scrapes }),
  );
  const flags = { 'config.file': join(folder, 'prometheus.yml'), 'storage.tsdb.path': join(folder, 'data'), 'web.listen-address': `127.0.0.1:${port}` };
  const server = spawn(
    program,
    Object.entries(flags).map(([name, value]) => `--${name}=${value}`),
    { stdio: ['ignore', 'ignore', 'pipe'], cwd: folder },
  );
  let said = '';
  server.stderr.setEncoding('utf8').on('data', (text: string) => (said = `${said}${text}`.slice(-4000)));
  const gone = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  // Kills the server when this process exits, even in the middle of a run.
  const last = (): void => void server.kill('SIGKILL');
  process.once('exit', last);
  const url = `http://127.0.0.1:${port}`;
  for (const end = Date.now() + START_MS_MAX; ; ) {
    if (
      await fetch(`${url}/-/ready`).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      break;
    if (Date.now() > end || server.exitCode !== null) throw new Error(`prometheus did not start: ${said}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    url,
    async stop() {
      process.off('exit', last);
      server.kill('SIGTERM');
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
