/** For tests of the panel: a client with a panel, and helpers that read and use its shadow tree. */
import { onTestFinished, vi } from 'vitest';
import { devtools } from '../../../src/entries/devtools.js';
import { createOnce as bare, type Once, type OnceOptions } from '../../../src/entries/index.js';
import { createOnce, SOON } from '../realm/lib.js';
import { Shop } from '../support/shop.js';

export const order = (...name: (string | number)[]) => ({ method: 'POST', body: '{"cart":1}', once: name }) as const;

/** A panel in the page, read and used as a developer would. */
export class Eyes {
  readonly host: HTMLElement;

  constructor(host: Element | null | undefined) {
    if (!host?.shadowRoot) throw new Error('there is no panel');
    this.host = host as HTMLElement;
  }

  get root(): ShadowRoot {
    return this.host.shadowRoot as ShadowRoot;
  }

  get text(): string {
    return (this.root.textContent ?? '').replaceAll(/\s+/g, ' ');
  }

  all<T extends HTMLElement = HTMLElement>(selector: string): T[] {
    return [...this.root.querySelectorAll<T>(selector)];
  }

  get rows(): string[] {
    return this.all('[role=option]').map((row) => `${row.querySelector('.name')?.textContent}: ${row.querySelector('.status')?.textContent}`);
  }

  get detail(): string {
    return (this.all('.detail')[0]?.textContent ?? '').replaceAll(/\s+/g, ' ');
  }

  button(name: string): HTMLButtonElement {
    const found = this.all<HTMLButtonElement>('button').find((one) => (one.getAttribute('aria-label') ?? one.textContent)?.startsWith(name));
    if (!found) throw new Error(`there is no button ${name}: ${this.text}`);
    return found;
  }

  /** Ticks or clears a box by its label. */
  tick(label: string): void {
    for (const one of this.all('label')) if (one.textContent?.includes(label)) one.querySelector('input')?.click();
  }

  press(key: string): void {
    const target = this.root.activeElement ?? this.all('.panel')[0];
    target?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, composed: true, cancelable: true }));
  }

  choose(name: string): void {
    const row = this.all('[role=option]').find((one) => one.querySelector('.name')?.textContent === name);
    if (!row) throw new Error(`there is no row ${name}: ${this.rows}`);
    row.click();
  }

  until(says: string | RegExp): Promise<void> {
    return vi.waitFor(
      () => {
        if (typeof says === 'string' ? !this.text.includes(says) : !says.test(this.text)) throw new Error(`the panel does not say ${says}: ${this.text}`);
      },
      { timeout: 8000 },
    );
  }
}

/** Opens a panel for a client. It closes when the test ends. */
export function panelOf(once: Once, options: Parameters<typeof devtools>[1] = { open: true }): { eyes: Eyes; close: () => void } {
  const close = devtools(once, options);
  onTestFinished(close);
  const hosts = (options.mount ?? document).querySelectorAll('oncefetch-devtools');
  return { eyes: new Eyes(hosts[hosts.length - 1]), close };
}

export function watched(options: OnceOptions = {}, how?: Parameters<typeof devtools>[1]) {
  const shop = new Shop();
  const once = (options.fetch ? bare : createOnce)({ ...SOON, namespace: shop.namespace, ...options });
  return { shop, once, ...panelOf(once, how) };
}

/** Shows the panel as on a system with this colour scheme. */
export function colour(root: ShadowRoot, scheme: 'light' | 'dark'): void {
  const rules = [...(root.adoptedStyleSheets[0]?.cssRules ?? [])].filter((rule) => rule instanceof CSSMediaRule);
  const dark = rules.find(({ media }) => media.mediaText.includes('prefers-color-scheme')) as CSSMediaRule;
  dark.media.mediaText = scheme === 'dark' ? 'all' : 'not all';
}

/** The background of the panel. */
export const paper = (eyes: Eyes): string => getComputedStyle(eyes.all('.panel')[0] as Element).backgroundColor;
