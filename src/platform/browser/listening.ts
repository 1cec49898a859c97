/** Listeners by type, for events of the window and of the document. */
import type { Tabs } from '../../ports.js';

/** Events of the document that do not bubble; `visibilitychange` does not in old Safari. */
const OF_DOCUMENT = /^(visibilitychange|freeze|resume)$/;

/** Begins to listen; the result ends that. Workers have no document, and some have no events. */
export const listening: Tabs['listening'] = (heard) => {
  const events = Object.entries(heard).map(([type, hear]) => [type, type === 'visibilitychange' ? () => void (document.hidden || hear()) : hear] as const);
  const each = (act: 'addEventListener' | 'removeEventListener'): void => {
    for (const [type, hear] of events) (OF_DOCUMENT.test(type) ? globalThis.document : globalThis)?.[act]?.(type, hear);
  };
  each('addEventListener');
  return () => each('removeEventListener');
};
