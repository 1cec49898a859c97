/** `NODE_DEBUG=oncefetch` writes a line to stderr for each step of each client, as Node's own modules do. */
import type { OnceEvent } from '../../core/event.js';
import { logTo } from '../../core/log-lines.js';
import type { Platform } from '../../ports.js';
import { builtin } from '../shared.js';

/** A channel of `node:diagnostics_channel`. */
export interface DebugChannel extends NonNullable<Platform['channel']> {
  subscribe(hears: (event: unknown) => void): void;
}

type Util = { debuglog(section: string): ((line: string) => void) & { readonly enabled: boolean } };

/** Marks the channel once it has the listener: it is the same for all clients and all copies of this package in the process. */
const LISTENS = Symbol.for('oncefetch.debug');

/** The same channel. If the process was started with `NODE_DEBUG=oncefetch`, it gets a listener that writes lines. */
export function debugged(channel: DebugChannel | undefined): DebugChannel | undefined {
  const write = builtin<Util>('node:util')?.debuglog('oncefetch');
  if (!channel || LISTENS in channel || !write?.enabled) return channel;
  const line = (text: string): void => write(text.replace(/^once: /, ''));
  const hears = logTo({ info: line, warn: line });
  channel.subscribe((event) => hears(event as OnceEvent));
  return Object.assign(channel, { [LISTENS]: true });
}
