/** The function that opens a panel. */
import type { Once } from 'oncefetch';
import { check } from '../check.js';
import { typeOf } from '../core/name.js';
import type { Client } from '../engine/client.js';
import { insideOf } from './inside.js';
import { Model } from './model.js';
import { Panel } from './panel.js';

/** Options of the panel. */
export interface DevtoolsOptions {
  /** Start open, instead of as a button in the corner. @default false */
  open?: boolean | undefined;
  /** The element into which the panel is put. @default document.body */
  mount?: Element | undefined;
  /** A name that tells the panel from those of other clients: `'checkout'`. */
  label?: string | undefined;
}

/** The default place. A script in the head runs before there is a body. */
const pageOf = (): Element | undefined => globalThis.document?.body ?? globalThis.document?.documentElement;

/** The function that ends the panel, by client. */
const panels = new WeakMap<Client, () => void>();

/**
 * Puts a panel into the page that shows what a client is doing, what it has stored, and what other tabs are doing, as far as the store
 * tells. For development only: the panel sits between the client and its transport. A client has one panel; a second call replaces it.
 * In a worker of a page there is nothing to see, but the panels of the pages are told what the worker does. On a server this does nothing.
 *
 * @returns a function that removes the panel and leaves the client as it was
 * @throws TypeError if `once` is not a client, or on a wrong option
 * @see docs/devtools.md
 * @example
 * if (import.meta.env.DEV) void import('oncefetch/devtools').then(({ devtools }) => devtools(once));
 */
export function devtools(once: Once, options: DevtoolsOptions = {}): () => void {
  const client = insideOf(once);
  check(options, { open: 'boolean', mount: 'object', label: 'string' }, 'devtools');
  const { open = false, label, mount = pageOf() } = options;
  if (options.mount !== undefined && typeof options.mount.attachShadow !== 'function')
    throw new TypeError(`once: devtools.mount must be an element, got ${typeOf(options.mount)}`);
  // A worker of a page has no place for a panel, but tells those of the pages what it does. A server does neither.
  if (!mount && !client.platform.tabs) return () => {};
  panels.get(client)?.();
  const panel = mount ? new Panel(once, { open, mount, label }) : new Model(once, () => {});
  const end = (): void => {
    if (panels.get(client) !== end) return;
    panels.delete(client);
    panel.end();
  };
  panels.set(client, end);
  return end;
}
