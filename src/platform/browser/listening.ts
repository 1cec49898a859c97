/** Listeners by type: for events of the window, and for `visibilitychange`, which old Safari fires only at the document. */
export type Heard = Readonly<Record<string, () => void>>;

/** Begins to listen; the result ends that. Workers have no document, and some have no events. */
export function listening(heard: Heard): () => void {
  const each = (act: 'addEventListener' | 'removeEventListener'): void => {
    for (const [type, hear] of Object.entries(heard)) (type === 'visibilitychange' ? globalThis.document : globalThis)?.[act]?.(type, hear);
  };
  each('addEventListener');
  return () => each('removeEventListener');
}
