/** Other tabs of this origin, and events of this one. */
import type { Tabs } from '../../ports.js';
import { listening } from './listening.js';

export const tabs: Tabs = {
  open() {
    try {
      return new BroadcastChannel('oncefetch');
    } catch {
      return undefined;
    }
  },
  listening,
};
