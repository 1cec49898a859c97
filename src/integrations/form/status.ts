/** Where a form speaks: a line that screen readers read out by themselves, a button to ask again, and the button that was pressed. */
import type { Submitter } from './submission.js';

/** On the line while what it says is the element's. */
const SAID = 'data-once-said';

export class Status {
  readonly #line: HTMLElement;
  readonly #check: HTMLButtonElement;
  #said = '';

  /** Takes the app's own elements where it has placed them: `role="status"`, and a button with `data-once-check`. */
  constructor(host: HTMLElement, onCheck: () => void) {
    this.#line = host.querySelector<HTMLElement>('[role=status]') ?? madeLine(host);
    this.#check = host.querySelector<HTMLButtonElement>('button[data-once-check]') ?? madeCheck(host);
    // A copy of an element (a row of a list, a framework's snapshot of the page) bears what was said in the first one.
    if (this.#line.hasAttribute(SAID)) this.#write('');
    this.#check.hidden = true;
    this.#check.addEventListener('click', onCheck);
  }

  /** Each thing is said once. `''` takes back what was said here, and leaves the server's own text. */
  say(words: string): void {
    if (words === '' ? this.#line.textContent !== this.#said : this.#line.textContent === words) return;
    this.#write(words);
  }

  #write(words: string): void {
    this.#line.textContent = words;
    this.#line.toggleAttribute(SAID, words !== '');
    this.#said = words;
  }

  /** Offers the button under this text; `undefined`: not at all. */
  offer(words: string | undefined): void {
    const focused = document.activeElement === this.#check;
    this.#check.hidden = words === undefined;
    if (words !== undefined && !this.#check.childElementCount) this.#check.textContent = words;
    // Who pressed it must not fall back to the top of the page.
    if (focused && words === undefined) this.focus();
  }

  focus(): void {
    if (!this.#line.hasAttribute('tabindex')) this.#line.tabIndex = -1;
    this.#line.focus();
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
  if (words !== undefined) button.replaceChildren(words);
  return () => {
    button.removeAttribute('aria-busy');
    if (words !== undefined && button.textContent === words) button.replaceChildren(...children);
  };
}
