/** A shop that serves the snippets of the guides as pages, each bundled as an app would, and counts the charges of each customer. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { type IdempotentServer, idempotentServer } from '../../../src/testing/idempotent-server.ts';
import { type Fence, root } from '../../docs/support/markdown.ts';
import { codeBefore } from '../../docs/support/snippets.ts';
import { relay } from '../../support/relay.ts';

const here = join(root, 'test/e2e/documented');
const quick = join(here, 'oncefetch.ts');
const made = join(root, '.tmp', 'documented');

export const nameOf = ({ path, line }: Pick<Fence, 'path' | 'line'>): string => `${path.replaceAll(/\W+/g, '-')}-${line}`;

/** Resolves the package to the build, except that snippets get a client with shorter waits. */
const built: Plugin = {
  name: 'built',
  setup: ({ onResolve }) => {
    onResolve({ filter: /^oncefetch(\/|$)/ }, ({ path, importer }) => {
      const [, entry = 'index'] = path.split('/');
      return { path: entry === 'index' && importer !== quick ? quick : join(root, 'dist', `${entry}.js`) };
    });
  },
};

/** Mounts the component that the comment before a snippet names. */
const mounted = (jsx: string): string => `
import { StrictMode as Strict } from 'react';
import { createRoot as rootOf } from 'react-dom/client';
const Shown = () => <>${jsx}</>;
rootOf(document.getElementById('root')!).render(<Strict><Shown /></Strict>);
`;

const sourceOf = (fence: Fence): string => {
  const screen = fence.wants.get('page');
  return `${[...codeBefore(fence), fence.code].join('\n')}\n${screen ? mounted(screen.join('\n')) : ''}\nexport {};\n`;
};

async function bundle(fences: readonly Fence[]): Promise<ReadonlyMap<string, string>> {
  rmSync(made, { recursive: true, force: true });
  mkdirSync(made, { recursive: true });
  for (const fence of fences) writeFileSync(join(made, `${nameOf(fence)}.tsx`), sourceOf(fence));
  const { outputFiles } = await build({
    entryPoints: [join(here, 'page.ts'), ...fences.map((fence) => join(made, `${nameOf(fence)}.tsx`))],
    entryNames: '[name]',
    outdir: '/',
    absWorkingDir: root,
    // A snippet that does not declare a name finds it on the page.
    inject: [join(here, 'page.ts')],
    plugins: [built],
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"development"' },
    write: false,
    logLevel: 'error',
  });
  return new Map(outputFiles.map(({ path, text }) => [path, text]));
}

export interface DocumentedShop {
  readonly origin: string;
  /** The number of charges of this customer. */
  charges(user: string): number;
  /** Whether answers to payments are lost after their effect, from now on or only the next one. */
  lose(which: boolean | 'next'): void;
  /** Refuses payments with this status from now on; `undefined` ends that. */
  refuse(status: 401 | 402 | undefined): void;
  reset(): void;
  close(): Promise<void>;
}

export async function openShop(fences: readonly Fence[]): Promise<DocumentedShop> {
  const files = await bundle(fences);
  const servers = new Map<string, IdempotentServer>();
  let losing: boolean | 'next' = false;
  let refused: number | undefined;
  const serverOf = (user: string): IdempotentServer => {
    const known = servers.get(user) ?? idempotentServer({ url: '/api/*', retryAfter: 0, effect: () => ({ id: `ch_${serverOf(user).effects.length + 1}` }) });
    servers.set(user, known);
    return known;
  };
  const answer = async (url: string, init: RequestInit): Promise<Response> => {
    const { pathname, searchParams } = new URL(url);
    const file = files.get(pathname);
    if (file !== undefined) return new Response(file, { headers: { 'content-type': 'text/javascript' } });
    if (pathname === '/page') {
      const screen = searchParams.get('screen');
      const script = screen ? `<script type="module" src="/${screen}.js"></script>` : '';
      const body = `<!doctype html><link rel="icon" href="data:,"><div id="root"></div><script type="module" src="/page.js"></script>${script}`;
      return new Response(body, { headers: { 'content-type': 'text/html' } });
    }
    const user = /(?:^|; )user=(\w+)/.exec((init.headers as Record<string, string>)['cookie'] ?? '')?.[1] ?? 'nobody';
    if (init.method === 'GET') return Response.json({ state: serverOf(user).effects.length ? 'paid' : 'open' });
    if (refused) return Response.json({ title: 'refused' }, { status: refused });
    const response = await serverOf(user).fetch(url, init);
    const lost = losing;
    if (lost === 'next') losing = false;
    if (lost) throw new TypeError('lost');
    return response;
  };
  const relayed = await relay(answer, async (to, response) => {
    to.writeHead(response.status, { 'cache-control': 'no-store', ...Object.fromEntries(response.headers) });
    to.end(Buffer.from(await response.arrayBuffer()));
  });
  return {
    ...relayed,
    charges: (user) => servers.get(user)?.effects.length ?? 0,
    lose: (which) => {
      losing = which;
    },
    refuse: (status) => {
      refused = status;
    },
    reset: () => {
      servers.clear();
      losing = false;
      refused = undefined;
    },
  };
}
