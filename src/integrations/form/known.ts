/** What the server has rendered as done: for whom, and until when. A page can outlive its user's session, and be pressed again. */
import type { OperationState } from 'oncefetch';
import { type FormMoment, LAST_WORDS } from './words.js';

/** Whether the browser had this page stored, as it may on the way back: nobody knows when it was rendered. */
const isOldPage = (): boolean => (performance.getEntriesByType('navigation')[0] as PerformanceNavigationTiming | undefined)?.transferSize === 0;

export class Known {
  #for: string | undefined;
  #at: number | undefined;
  #pressed = false;

  /** It was rendered anew, for this user; `inPage`: it may have come with the page, and was not made by a script. */
  rendered(user: string | undefined, inPage: boolean): void {
    this.#for = user;
    this.#at = this.#at === undefined && inPage && isOldPage() ? 0 : Date.now();
    this.#pressed = false;
  }

  /** The form has been sent since. */
  pressed(): void {
    this.#pressed = true;
  }

  /**
   * Whether it is said of this user's operation, and of none that began later, as `repeat` allows. Where the page learns only
   * later who its user is, the first one is meant.
   */
  isDone(element: Element, user: string | undefined, state: OperationState, moment: FormMoment | ''): boolean {
    this.#for ??= user;
    const later =
      state.phase === 'unsettled' ? state.pending.createdAt > (this.#at ?? 0) : this.#pressed && (state.phase === 'settled' || LAST_WORDS.has(moment));
    return element.getAttribute('known') === 'done' && this.#for === user && !later;
  }
}
