/** A press while offline, in a page that dies before anything is sent. */
import type { Tab } from './tab.js';
import { rest } from './world.js';

/** Returns the next page, with a network again. */
export async function pressOffline(tab: Tab, press: (page: Tab) => unknown): Promise<Tab> {
  tab.online = false;
  const page = tab.reload();
  press(page);
  await rest();
  page.online = true;
  return page.reload();
}
