/** What the attributes of an element say. A wrong one is a TypeError that names it. */
import type { OperationName } from 'oncefetch';
import { wrong } from './options.js';
import { readSubmission } from './submission.js';

const words = (list: string | null): readonly string[] => (list ?? '').split(/\s+/).filter(Boolean);

/** `pay c-42` as a name. */
export function nameFrom(attribute: string, said: string | null): OperationName {
  const [first, ...others] = words(said);
  if (first === undefined) throw wrong(attribute, 'name the operation, its parts separated by spaces', said ?? undefined);
  return [first, ...others];
}

/** The operation of a button that is for another one than its form. */
export const nameOfButton = (button: HTMLElement | undefined): OperationName | undefined => {
  const own = button?.dataset['onceOperation'];
  return own === undefined ? undefined : nameFrom('data-once-operation', own);
};

/** The form that the element stands for. */
export function formIn(element: Element): HTMLFormElement {
  const form = element.querySelector('form');
  if (!form) throw wrong('the element', 'contain a form');
  const read = readSubmission(form, undefined);
  if ('left' in read && read.mistake) throw read.mistake;
  return form;
}

/** Names of fields that differ with every rendering, such as a token against forgery. */
export const ignoredIn = (element: Element): readonly string[] => words(element.getAttribute('ignore'));

/** Where the page goes when it is done; `undefined`: it stays. */
export function nextIn(element: Element): string | undefined {
  const next = element.getAttribute('next');
  if (next === null) return undefined;
  const url = new URL(next, document.baseURI);
  if (!/^https?:$/.test(url.protocol)) throw wrong('next', 'be the address of a page', next);
  return url.href;
}
