/** What the server has rendered as done: for whom, and until when. A page can outlive its user's session, and be pressed again. */
import type { OperationState } from 'oncefetch';
import { type FormMoment, LAST_WORDS } from './words.js';

export class Known {
  #for: string | undefined;
  #at = Date.now();
  #pressed = false;

  /** It was rendered anew, for this user. */
  rendered(user: string | undefined): void {
    this.#for = user;
    this.#at = Date.now();
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
    const later = state.phase === 'unsettled' ? state.pending.createdAt > this.#at : this.#pressed && (state.phase === 'settled' || LAST_WORDS.has(moment));
    return element.getAttribute('known') === 'done' && this.#for === user && !later;
  }
}
