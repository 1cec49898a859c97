/** Where a form speaks: a line that screen readers read out by themselves, a button to ask again, and the button that was pressed. */
import { SAID, takeBackErrors } from './fields.js';
import type { Submitter } from './submission.js';

export class Status {
  readonly #host: HTMLElement;
  readonly #onCheck: () => void;
  #line: HTMLElement | undefined;
  #check: HTMLButtonElement | undefined;
  #said = '';

  /** Takes the app's own elements where it has placed them: `role="status"`, and a button with `data-once-check`. */
  constructor(host: HTMLElement, onCheck: () => void) {
    this.#host = host;
    this.#onCheck = onCheck;
    takeBackCopied(host);
    this.#find();
  }

  /** A page may put others in their place at any time. */
  #find(): { readonly line: HTMLElement; readonly check: HTMLButtonElement } {
    const host = this.#host;
    if (!this.#line || !host.contains(this.#line)) {
      this.#line = host.querySelector<HTMLElement>('[role=status]') ?? madeLine(host);
      this.#said = '';
      // A copy of an element (a row of a list, a framework's snapshot of the page) bears what was said in the first one.
      if (this.#line.hasAttribute(SAID)) this.#write(this.#line, '');
    }
    if (!this.#check || !host.contains(this.#check)) {
      this.#check = host.querySelector<HTMLButtonElement>('button[data-once-check]') ?? madeCheck(host);
      this.#check.hidden = true;
      this.#check.addEventListener('click', this.#onCheck);
    }
    return { line: this.#line, check: this.#check };
  }

  /** Each thing is said once. `''` takes back what was said here, and leaves the server's own text. */
  say(words: string): void {
    const { line } = this.#find();
    if (words === '' ? line.textContent === this.#said : line.textContent !== words) this.#write(line, words);
  }

  #write(line: HTMLElement, words: string): void {
    line.textContent = words;
    line.toggleAttribute(SAID, words !== '');
    this.#said = words;
  }

  /** Offers the button under this text; `undefined`: not at all. */
  offer(words: string | undefined): void {
    const { check } = this.#find();
    const focused = document.activeElement === check;
    check.hidden = words === undefined;
    if (words !== undefined && !check.childElementCount) check.textContent = words;
    // Who pressed it must not fall back to the top of the page.
    if (focused && words === undefined) this.focus();
  }

  focus(): void {
    const { line } = this.#find();
    if (!line.hasAttribute('tabindex')) line.tabIndex = -1;
    line.focus();
  }
}

function madeLine(host: HTMLElement): HTMLElement {
  const line = document.createElement('p');
  line.setAttribute('role', 'status');
  host.append(line);
  return line;
}

function madeCheck(host: HTMLElement): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.dataset['onceCheck'] = '';
  host.append(button);
  return button;
}

/**
 * Lets the pressed button show that it is at work: `aria-busy`, and the text of its `data-once-busy`. It is not disabled:
 * who uses a keyboard would lose their place. The result takes it back.
 */
export function busyButton(button: Submitter | undefined): () => void {
  if (!button) return () => {};
  const words = button instanceof HTMLButtonElement ? button.dataset['onceBusy'] : undefined;
  const children = [...button.childNodes];
  button.setAttribute('aria-busy', 'true');
  button.setAttribute(SAID, '');
  if (words !== undefined) button.replaceChildren(words, templateOf(children));
  return () => {
    button.removeAttribute('aria-busy');
    button.removeAttribute(SAID);
    if (words !== undefined && button.textContent === words) button.replaceChildren(...children);
  };
}

/** What a copy of the button puts back. */
function templateOf(children: readonly Node[]): HTMLTemplateElement {
  const template = document.createElement('template');
  template.content.append(...children.map((child) => child.cloneNode(true)));
  return template;
}

/** A copy of an element bears what was shown in the first one: nobody is at work here, and nothing was refused. */
function takeBackCopied(host: HTMLElement): void {
  for (const button of host.querySelectorAll(`:is(button, input)[${SAID}]`)) {
    button.removeAttribute('aria-busy');
    button.removeAttribute(SAID);
    const template = button.querySelector('template');
    if (template) button.replaceChildren(template.content);
  }
  takeBackErrors(host);
}
