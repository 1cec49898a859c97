/** The oncefetch lane: one name per cart. It tells the customer the effect of the outcome. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { ATTEMPTS_MAX, type Lane, PATIENCE_MS, paymentInit, paymentUrl, WAIT_MS } from './lanes.ts';

type Oncefetch = typeof import('oncefetch');

export async function onceLane(entry: string): Promise<Lane> {
  const { createOnce, memoryStore, outcomeOf } = await load(entry);
  // In memory, because only the shop is killed in this comparison, never the customer's page.
  const once = createOnce({
    store: memoryStore(),
    limits: { attempts: ATTEMPTS_MAX, attemptMs: PATIENCE_MS },
    retry: { minDelayMs: WAIT_MS.first, maxDelayMs: WAIT_MS.longest },
  });
  return {
    name: 'oncefetch',
    pay: async (checkout) => {
      try {
        const response = await once.fetch(paymentUrl(checkout), { ...paymentInit(checkout), once: ['pay', checkout.cart] });
        await response.text();
        return outcomeOf(response)?.effect ?? 'unknown';
      } catch (error) {
        return outcomeOf(error)?.effect ?? 'unknown';
      }
    },
  };
}

/**
 * Bundles the sources, because Node runs TypeScript but does not resolve the `.js` of its imports to `.ts`. The built
 * `dist` would also run, but then the comparison would test the last build, not the current code.
 */
async function load(entry: string): Promise<Oncefetch> {
  const folder = await mkdtemp(join(tmpdir(), 'oncefetch-compare-'));
  try {
    const outfile = join(folder, 'oncefetch.mjs');
    await build({ entryPoints: [entry], outfile, bundle: true, format: 'esm', platform: 'node', target: 'node20', logLevel: 'error' });
    return (await import(pathToFileURL(outfile).href)) as Oncefetch;
  } finally {
    await rm(folder, { recursive: true });
  }
}
