/** Tells whether the server's `known="done"` still holds: it was rendered for one user, who may have logged out since, and before any later submit. */
import type { OperationState } from 'oncefetch';
import type { OnceFormElement } from './options.js';
import { type FormMoment, LAST_WORDS } from './words.js';

/** Whether the browser took this page from its cache, as it may after "back", or had fetched it in advance. Then nothing tells when it was rendered. */
function isOldPage(): boolean {
  const [page] = performance.getEntriesByType('navigation') as (PerformanceNavigationTiming & { readonly deliveryType?: string })[];
  return page?.transferSize === 0 || !!page?.deliveryType;
}

/**
 * When the browser began to load this page, wall clock, ms. The server rendered it after that. `performance.timeOrigin` would be hours too early in a
 * tab that stayed open while the device slept. In such a tab, this is too late when it is called after the sleep.
 */
export const pageBegan = (): number => Date.now() - performance.now();

export class Known {
  #user: string | undefined;
  #renderedAt: number | undefined;
  #pressed = false;

  /**
   * Called when the attribute was rendered. `user`: who is logged in now. `inPage`: the attribute may have come with the page's HTML, and not
   * from a script. `since`: when it was rendered at the earliest. It may be as old as the page: another tab may have pressed while this page's
   * script was loading, or after a framework had fetched the element, or a page from which it changes this one. If the attribute `state` is not
   * the element's own, the element is a copy of another one, as in a framework's snapshot of the page. Then nothing tells when it was rendered.
   */
  rendered(element: OnceFormElement, user: string | undefined, inPage: boolean, since: number): void {
    this.#user = user;
    const isFirst = this.#renderedAt === undefined;
    const isOld = isFirst && ((element.getAttribute('state') ?? '') !== element.state || (inPage && isOldPage()));
    this.#renderedAt = isOld ? 0 : since;
    this.#pressed = false;
  }

  /** Called when the form is sent. */
  pressed(): void {
    this.#pressed = true;
  }

  /**
   * Whether "done" holds for this user's present operation, and not only for an earlier one of the same name (with `repeat`, there may be
   * several). If the page did not know its user when the attribute was rendered, it counts for the first user that the page learns of.
   * `repeated`: the names that were pressed since the document was loaded and may be done again. A framework may have fetched an element, or a page
   * from which it changes this one, before such a press. So "done" does not count for these names while they are unsettled.
   */
  isDone(element: Element, user: string | undefined, state: OperationState, moment: FormMoment | '', repeated: ReadonlySet<string>): boolean {
    this.#user ??= user;
    const open = state.phase === 'unsettled';
    // What was pressed here is later than the rendering. Its time is not compared, because the clock may have been set back meanwhile.
    const later = this.#pressed
      ? open || state.phase === 'settled' || LAST_WORDS.has(moment)
      : open && (state.pending.createdAt > (this.#renderedAt ?? 0) || repeated.has(state.pending.name.join(' ')));
    return element.getAttribute('known') === 'done' && this.#user === user && !later;
  }
}
