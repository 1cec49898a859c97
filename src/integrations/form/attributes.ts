/** Reads the attributes of an element. Throws a TypeError that names a wrong one. */
import type { OperationName } from 'oncefetch';
import { wrong } from './options.js';
import { readSubmission } from './submission.js';

const words = (list: string | null): readonly string[] => (list ?? '').split(/\s+/).filter(Boolean);

/** What a template writes in place of a value that is missing: nothing, or what JavaScript prints for it, such as `undefined`. */
const NO_PART = /(^|\s)(undefined|null|NaN|\[object)?(\s|$)/;

/** Turns `pay c-42` into a name. Throws if a part is missing, because then a template lacked its value, and all carts would share one name. */
export function nameFrom(attribute: string, said: string | null): OperationName {
  if (NO_PART.test(said ?? '')) throw wrong(`the attribute ${attribute}`, 'name the operation, its parts separated by single spaces', said);
  return (said as string).split(/\s/) as [string, ...string[]];
}

/** The button's own operation, if it has one. */
export const nameOfButton = (button: HTMLElement | undefined): OperationName | undefined => {
  const own = button?.dataset['onceOperation'];
  return own === undefined ? undefined : nameFrom('data-once-operation', own);
};

/** The form in the element. Throws a TypeError if there is none, or if code could not send it. */
export function formIn(element: Element): HTMLFormElement {
  const form = element.querySelector('form');
  if (!form) throw wrong('the element', 'contain a form');
  const read = readSubmission(form, undefined);
  if (read instanceof TypeError) throw read;
  return form;
}

/** Calls `begin` once the element has its form. The parser, and frameworks such as Angular and Alpine, insert the element before that. */
export function withForm(element: Element, begin: () => void): void {
  const now = (): unknown => element.isConnected && begin();
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', now, { once: true });
  else if (element.querySelector('form')) now();
  else queueMicrotask(now);
}

/** Names of fields that are not part of the payload, because they differ with every rendering, such as a CSRF token. */
export const ignoredIn = (element: Element): readonly string[] => words(element.getAttribute('ignore'));

/** The page to go to when the operation is done; `undefined` to stay. */
export function nextIn(element: Element): string | undefined {
  const next = element.getAttribute('next');
  if (next === null) return undefined;
  const url = new URL(next, document.baseURI);
  if (!/^https?:$/.test(url.protocol)) throw wrong('next', 'be the address of a page', next);
  return url.href;
}
