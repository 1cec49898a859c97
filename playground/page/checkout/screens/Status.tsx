/** The status line: a screen reader announces it, and it gets the focus when a focused button disappears. */
import { type ReactNode, useLayoutEffect, useRef } from 'react';

export function Status({ children }: { children: ReactNode }) {
  const line = useRef<HTMLDivElement>(null);
  const before = useRef<Element | null>(null);
  useLayoutEffect(() => {
    // The focused button was removed, so the browser has moved the focus to the body.
    if (before.current && !before.current.isConnected) line.current?.focus({ preventScroll: true });
    before.current = document.activeElement === document.body ? null : document.activeElement;
  });
  return (
    <div role="status" className="status" tabIndex={-1} ref={line}>
      {children}
    </div>
  );
}
