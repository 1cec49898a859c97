/** The face of the panel. */
import type { Once } from 'oncefetch';
import { check } from '../check.js';
import { typeOf } from '../core/name.js';
import type { Client } from '../engine/client.js';
import { insideOf } from './inside.js';
import { Model } from './model.js';
import { Panel } from './panel.js';

/** Where the panel is, and how it begins. */
export interface DevtoolsOptions {
  /** Begins open, and not as a button in the corner. @default false */
  open?: boolean | undefined;
  /** The element in which it is put. @default document.body */
  mount?: Element | undefined;
  /** What it is called beside the panels of other clients: `'checkout'`. */
  label?: string | undefined;
}

/** Where it is put. A script in the head runs before there is a body. */
const pageOf = (): Element | undefined => globalThis.document?.body ?? globalThis.document?.documentElement;

/** The panel of each client. */
const panels = new WeakMap<Client, () => void>();

/**
 * Puts a panel into the page that shows what a client is at, has stored and has heard, in every tab as far as the store tells. For
 * development: it stands between the client and its transport while it is there. A client has one panel: a second call puts
 * another one in its place. In a worker of a page it shows nothing, and tells the panels of the pages what the worker does. On a
 * server it does nothing.
 *
 * @returns a function that removes it and leaves the client as it was
 * @throws TypeError where `once` is no client, and on a wrong option
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
  // A worker of a browser has no place for a panel: those of its pages hear of what it does. A server has neither.
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
