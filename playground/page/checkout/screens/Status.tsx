/** One line that a screen reader is told, and where a keyboard goes on when its button is gone. */
import { type ReactNode, useLayoutEffect, useRef } from 'react';

export function Status({ children }: { children: ReactNode }) {
  const line = useRef<HTMLDivElement>(null);
  const before = useRef<Element | null>(null);
  useLayoutEffect(() => {
    // The button that had the focus was removed, so the body has it now.
    if (before.current && !before.current.isConnected) line.current?.focus({ preventScroll: true });
    before.current = document.activeElement === document.body ? null : document.activeElement;
  });
  return (
    <div role="status" className="status" tabIndex={-1} ref={line}>
      {children}
    </div>
  );
}
