/** Node's `diagnostics_channel`, where tools of the process hear every event of every client. */
import type { Client } from './client.js';
import { openLog } from './log.js';

/** Opens the log of a client whose platform has a channel. */
export function openChannel(client: Client): void {
  if (client.platform.channel) openLog(client);
}
