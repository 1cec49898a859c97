/** What a page hears of itself: events of its window, and `visibilitychange`, which old Safari fires at the document only. */
export type Heard = Readonly<Record<string, () => void>>;

/** Begins to listen; the result ends it. Workers have no document, and some have no events. */
export function listening(heard: Heard): () => void {
  const each = (act: 'addEventListener' | 'removeEventListener'): void => {
    for (const [type, hear] of Object.entries(heard)) (type === 'visibilitychange' ? globalThis.document : globalThis)?.[act]?.(type, hear);
  };
  each('addEventListener');
  return () => each('removeEventListener');
}
