/** Where the process's own tools hear every event of every client: Node's `diagnostics_channel`. */
import type { Client } from './client.js';
import { openLog } from './log.js';

/** Opens the log of a client whose platform has a channel. */
export function openChannel(client: Client): void {
  if (client.platform.channel) openLog(client);
}
