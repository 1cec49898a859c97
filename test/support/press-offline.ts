/** A press without a network, whose page dies before anything left. */
import type { Tab } from './tab.js';
import { rest } from './world.js';

/** The page that comes after it, with a network again. */
export async function pressOffline(tab: Tab, press: (page: Tab) => unknown): Promise<Tab> {
  tab.online = false;
  const page = tab.reload();
  press(page);
  await rest();
  page.online = true;
  return page.reload();
}
