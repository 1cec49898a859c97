/** Frames that load nothing but the package: their pages are written by the test. */
import { onTestFinished } from 'vitest';
import type * as Lib from '../realm/lib.js';

export type Inside = Window & typeof globalThis & { readonly oncefetch: typeof Lib };

/** A frame at about:srcdoc or about:blank, which has the origin of the test's page. */
export async function written(at: 'about:srcdoc' | 'about:blank' = 'about:srcdoc'): Promise<Inside> {
  const frame = document.createElement('iframe');
  onTestFinished(() => frame.remove());
  if (at === 'about:srcdoc') frame.srcdoc = '<!doctype html><title>written</title>';
  document.body.append(frame);
  if (at === 'about:srcdoc') await new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }));
  const inside = frame.contentWindow as Inside;
  const script = inside.document.createElement('script');
  script.src = '/site/classic.js';
  const loaded = new Promise((resolve) => script.addEventListener('load', resolve));
  inside.document.body.append(script);
  await loaded;
  return inside;
}
