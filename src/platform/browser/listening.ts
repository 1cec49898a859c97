/** Listeners by type, for events of the window and of the document. */
export type Heard = Readonly<Record<string, () => unknown>>;

/** Events of the document that do not bubble; `visibilitychange` does not in old Safari. */
const OF_DOCUMENT = /^(visibilitychange|freeze|resume)$/;

/** Begins to listen; the result ends that. Workers have no document, and some have no events. */
export function listening(heard: Heard): () => void {
  const each = (act: 'addEventListener' | 'removeEventListener'): void => {
    for (const [type, hear] of Object.entries(heard)) (OF_DOCUMENT.test(type) ? globalThis.document : globalThis)?.[act]?.(type, hear);
  };
  each('addEventListener');
  return () => each('removeEventListener');
}

/** A listener for `visibilitychange` that wakes when the page is shown, and not when it is hidden. */
export const whenShown = (wake: () => void) => (): unknown => document.hidden || wake();
