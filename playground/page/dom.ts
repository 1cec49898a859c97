/** The few DOM functions that the page needs. */

/** An element with attributes and children. */
export function element(name: string, attributes: Readonly<Record<string, string>>, children: readonly (Node | string)[]): HTMLElement {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  made.append(...children);
  return made;
}

/** The element that `root` marks with this name. A page without it is broken, so this throws at once. */
export function part<T extends HTMLElement = HTMLElement>(root: ParentNode, name: string): T {
  const found = root.querySelector<T>(`[data-part="${name}"]`);
  if (!found) throw new Error(`the page has no part ${name}`);
  return found;
}

/** Sets the text only if it differs, so that a live region is announced once. */
export function say(target: HTMLElement, text: string): void {
  if (target.textContent !== text) target.textContent = text;
}

/** Calls `run` once per frame, however often it is asked to. */
export function oncePerFrame(run: () => void): () => void {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    // Not requestAnimationFrame: a tab in the background has no frames, but its screen must be up to date when it is shown again.
    setTimeout(() => {
      asked = false;
      run();
    }, 16);
  };
}

/** Makes a change in `root`. If the change hides or disables the focused button, moves the focus to `next`. */
export function keepingFocus(root: HTMLElement, next: HTMLElement, change: () => void): void {
  const { activeElement } = document;
  change();
  if (!(activeElement instanceof HTMLElement) || !root.contains(activeElement)) return;
  if (activeElement.matches(':disabled') || activeElement.getClientRects().length === 0) next.focus({ preventScroll: true });
}
