/** Serves the built page, so that page and API have one origin. */
import { createReadStream, statSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { extname, join, resolve, sep } from 'node:path';
import { pipeline } from 'node:stream';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
};

/** Sends the file of this path. Returns `false` if there is none. */
export function sendFile(response: ServerResponse, folder: string, path: string, method: string): boolean {
  const root = resolve(folder);
  let file: string;
  try {
    file = join(root, decodeURIComponent(path.endsWith('/') ? `${path}index.html` : path));
  } catch {
    return false; // a malformed escape
  }
  // `join` has resolved every `..`, so a path outside of the folder can be recognised here.
  if (!file.startsWith(root + sep) || file.includes('\0')) return false;
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats?.isFile()) return false;
  response.writeHead(200, {
    'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
    'content-length': stats.size,
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
  });
  if (method === 'HEAD') response.end();
  else pipeline(createReadStream(file), response, () => {});
  return true;
}
