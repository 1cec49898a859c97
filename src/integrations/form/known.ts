/** Whether the server's `known="done"` still holds. It was rendered for one user, whose session the page may outlive, and before any later submit. */
import type { OperationState } from 'oncefetch';
import type { OnceFormElement } from './options.js';
import { type FormMoment, LAST_WORDS } from './words.js';

/** Whether the browser showed this page from its cache, as it may after "back", or had fetched it in advance. Then nobody knows when the page was rendered. */
function isOldPage(): boolean {
  const [page] = performance.getEntriesByType('navigation') as (PerformanceNavigationTiming & { readonly deliveryType?: string })[];
  return page?.transferSize === 0 || !!page?.deliveryType;
}

export class Known {
  #for: string | undefined;
  #at: number | undefined;
  #first = true;
  #pressed = false;

  /**
   * The attribute was rendered, for this user. `inPage`: it may have come with the page's HTML, and not from a script. An element with
   * the state of another one is a copy of that, as in a framework's snapshot of the page, and nobody knows when that was rendered.
   */
  rendered(element: OnceFormElement, user: string | undefined, inPage: boolean): void {
    this.#for = user;
    this.#first = this.#at === undefined;
    this.#at = this.#first && ((element.getAttribute('state') ?? '') !== element.state || (inPage && isOldPage())) ? 0 : Date.now();
    this.#pressed = false;
  }

  /** The form was sent since then. */
  pressed(): void {
    this.#pressed = true;
  }

  /**
   * Whether "done" holds for this user's present operation, and not only for one before it (with `repeat`, a name may have several). If
   * the page did not know its user when it was rendered, the first user that it gets to know is meant. `repeated`: the names that were pressed
   * since the document was loaded and may be done again. A framework may have fetched an element in advance, or kept its data, before that press.
   */
  isDone(element: Element, user: string | undefined, state: OperationState, moment: FormMoment | '', repeated: ReadonlySet<string>): boolean {
    this.#for ??= user;
    const open = state.phase === 'unsettled';
    // The clock may have been set back since the page was rendered: what was pressed here is later, whatever its time.
    const later = this.#pressed
      ? open || state.phase === 'settled' || LAST_WORDS.has(moment)
      : open && (state.pending.createdAt > (this.#at ?? 0) || (this.#first && repeated.has(state.pending.name.join(' '))));
    return element.getAttribute('known') === 'done' && this.#for === user && !later;
  }
}
