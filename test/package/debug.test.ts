/**
 * Goal: `NODE_DEBUG=oncefetch` shows each step once, and without it stderr stays empty. Method: a separate process pays
 * at a real server, with the built package in both module systems.
 */
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from './installed.js';

const server = createServer((_, response) => response.writeHead(201, { 'content-type': 'application/json' }).end('{}'));
beforeAll(() => new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve)));
afterAll(() => void server.close());

const program = (url: string): string => `
  import { createRequire } from 'node:module';
  import { createOnce, memoryStore } from './dist/index.js';
  const cjs = createRequire(process.cwd() + '/')('./dist/index.cjs');
  const store = memoryStore();
  for (const [at, make] of [createOnce, cjs.createOnce].entries())
    await make({ namespace: 'n', store }).fetch(${JSON.stringify(url)}, { method: 'POST', body: '{}', once: ['pay', at + 1] });
`;

async function stderrOf(debug: string | undefined): Promise<string[]> {
  const { port } = server.address() as AddressInfo;
  const env = { ...process.env, NODE_DEBUG: debug };
  const { stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program(`http://127.0.0.1:${port}/`)], { cwd: root, env });
  return stderr.split('\n').filter((line) => line !== '');
}

test('NODE_DEBUG=oncefetch writes a line for each step, once for each copy of the package', async () => {
  const lines = (await stderrOf('oncefetch')).map((line) => line.replace(/^ONCEFETCH \d+: (.*)\([0-9a-f]{8}\)/, '$1(key)'));
  expect(lines).toEqual([
    'pay 1 (key): attempt 1',
    'pay 1 (key): got 201: done after 1 attempt. It took effect now.',
    'pay 2 (key): attempt 1',
    'pay 2 (key): got 201: done after 1 attempt. It took effect now.',
  ]);
});

test.each([undefined, 'http-proxy'])('NODE_DEBUG=%s writes nothing', async (debug) => expect(await stderrOf(debug)).toEqual([]));
