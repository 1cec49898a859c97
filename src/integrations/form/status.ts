/** Shows the state of a form: in a line that screen readers announce, by a button to ask again, and at the button that was pressed. */
import { removeCopiedErrors, SAID } from './fields.js';
import type { Submitter } from './submission.js';

export class Status {
  readonly #host: HTMLElement;
  readonly #onCheck: () => void;
  #line: HTMLElement | undefined;
  #check: HTMLButtonElement | undefined;
  #said = '';
  /** What this object was last asked to show: the text of the line, and the text of the button. */
  #last: readonly [words: string, check: string | undefined] = ['', undefined];

  /** Uses the app's own elements if there are any: one with `role="status"`, and a button with `data-once-check`. */
  constructor(host: HTMLElement, onCheck: () => void) {
    this.#host = host;
    this.#onCheck = onCheck;
    removeCopied(host);
    this.#find();
  }

  /** The two elements. They are looked up each time, because a page may replace them at any time. The button is made only when it is `needed`. */
  #find(needed?: boolean): { readonly line: HTMLElement; readonly check: HTMLButtonElement | undefined } {
    const host = this.#host;
    const line = own(host, this.#line, '[role=status]') ?? made(host, 'p', 'status');
    if (line !== this.#line) {
      if (this.#line) this.#line.textContent = '';
      this.#line = line;
      this.#said = '';
      // The element may be a copy (a row of a list, a framework's snapshot of the page) that still has the original's text.
      if (line.hasAttribute(SAID)) this.#write(line, '');
      this.#guard(line);
    }
    const check = own(host, this.#check, 'button[data-once-check]') ?? (needed ? made(host, 'button', 'check') : this.#check);
    if (check && check !== this.#check) {
      this.#check = check;
      check.hidden = true;
      check.addEventListener('click', this.#onCheck);
    }
    return { line, check };
  }

  /**
   * Shows `unknown` again if another script empties the line. When Preact hydrates a page, it empties a line that the server rendered empty, and
   * after a lost answer the customer would read nothing. Does that only once, because the other script may answer by emptying the line again.
   */
  #guard(line: HTMLElement): void {
    new MutationObserver((_, observer) => {
      if (line !== this.#line || line.textContent || this.#host.getAttribute('state') !== 'unknown') return;
      observer.disconnect();
      this.again();
    }).observe(line, { childList: true });
  }

  /** Shows a text, unless it is there already, so that screen readers announce it once. `''` removes our own text, but not one that the server rendered. */
  say(words: string): void {
    this.#last = [words, this.#last[1]];
    const { line } = this.#find();
    if (words ? line.textContent !== words : line.textContent === this.#said) this.#write(line, words);
  }

  #write(line: HTMLElement, words: string): void {
    line.textContent = words;
    line.toggleAttribute(SAID, !!words);
    this.#said = words;
  }

  /** Shows the button with this text; `undefined` hides it. */
  offer(words: string | undefined): void {
    this.#last = [this.#last[0], words];
    const { check } = this.#find(words !== undefined);
    if (!check) return;
    const focused = (check.getRootNode() as Document | ShadowRoot).activeElement === check;
    check.hidden = words === undefined;
    if (words && !check.childElementCount) check.textContent = words;
    // If the hidden button had the focus, move that to the line, so that it does not fall back to the top of the page.
    if (focused && words === undefined) this.focus();
  }

  /** Shows the text and the button again. If another script has put a text of its own there, that stays. */
  again(): void {
    const [words, check] = this.#last;
    if (!this.#find().line.textContent) this.say(words);
    this.offer(check);
  }

  focus(): void {
    const { line } = this.#find();
    if (!line.hasAttribute('tabindex')) line.tabIndex = -1;
    line.focus();
  }
}

/** The app's own element for this purpose: the one that was found before, if it is still there, or else the first that matches. */
const own = <E extends HTMLElement>(host: HTMLElement, before: E | undefined, selector: string): E | undefined =>
  before && host.contains(before) ? before : (host.querySelector<E>(selector) ?? undefined);

/**
 * Makes an element for an app that has none of its own. Puts it into a shadow root, after the page's content: a framework that hydrates or
 * morphs the page takes a child that it does not know for a mistake, and removes it or renders everything again.
 */
function made<Tag extends 'p' | 'button'>(host: HTMLElement, tag: Tag, part: string): HTMLElementTagNameMap[Tag] {
  if (!host.shadowRoot) host.attachShadow({ mode: 'open' }).append(document.createElement('slot'));
  const root = host.shadowRoot as ShadowRoot;
  const before = root.querySelector<HTMLElementTagNameMap[Tag]>(`[part=${part}]`);
  if (before) return before;
  const element = document.createElement(tag);
  element.setAttribute('part', part);
  if (element instanceof HTMLButtonElement) element.type = 'button';
  else element.setAttribute('role', 'status');
  root.append(element);
  return element;
}

/**
 * Makes the pressed button show that its call is under way, by `aria-busy` and the text of its `data-once-busy`. It is not disabled,
 * because keyboard users would lose the focus. The result undoes this.
 */
export function busyButton(button: Submitter | undefined): () => void {
  if (!button) return () => {};
  const words = button instanceof HTMLButtonElement ? button.dataset['onceBusy'] : undefined;
  // Keep the button's content in a template inside the button: a framework that changes the content meanwhile finds its nodes still side by side,
  // and a copy of the button contains them, too.
  const template = document.createElement('template');
  button.setAttribute('aria-busy', 'true');
  button.setAttribute(SAID, '');
  if (words !== undefined) {
    template.content.append(...button.childNodes);
    button.append(words, template);
  }
  return () => makeIdle(button, button.textContent === words ? template : null);
}

/** Makes a button look idle again. `template`: has the content that it had. */
function makeIdle(button: Element, template: HTMLTemplateElement | null): void {
  button.removeAttribute('aria-busy');
  button.removeAttribute(SAID);
  if (template) button.replaceChildren(template.content);
}

/** Removes busy buttons and errors that were copied together with the element, because they are true of the original only. */
function removeCopied(host: HTMLElement): void {
  for (const button of host.querySelectorAll(`:is(button, input)[${SAID}]`)) makeIdle(button, button.querySelector('template'));
  removeCopiedErrors(host);
}
