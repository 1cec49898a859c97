/** The little of DOM that the page needs. */

/** An element with attributes and children. */
export function element(name: string, attributes: Readonly<Record<string, string>>, children: readonly (Node | string)[]): HTMLElement {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  made.append(...children);
  return made;
}

/** The part of this name within `root`; a page without it is broken, and should say so at once. */
export function part<T extends HTMLElement = HTMLElement>(root: ParentNode, name: string): T {
  const found = root.querySelector<T>(`[data-part="${name}"]`);
  if (!found) throw new Error(`the page has no part ${name}`);
  return found;
}

/** Sets the text only when it differs, so that live regions speak once. */
export function say(target: HTMLElement, text: string): void {
  if (target.textContent !== text) target.textContent = text;
}

/** `run`, once per frame however often it is asked for. */
export function oncePerFrame(run: () => void): () => void {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    // Not requestAnimationFrame: a tab in the background has no frames, but its screen must be true when it is seen again.
    setTimeout(() => {
      asked = false;
      run();
    }, 16);
  };
}

/** Makes a change in `root`; a keyboard whose button is gone or disabled by it goes on from `next`. */
export function keepingFocus(root: HTMLElement, next: HTMLElement, change: () => void): void {
  const { activeElement } = document;
  change();
  if (!(activeElement instanceof HTMLElement) || !root.contains(activeElement)) return;
  if (activeElement.matches(':disabled') || activeElement.getClientRects().length === 0) next.focus({ preventScroll: true });
}
