/** What the server has rendered as done: for whom, and until when. A page can outlive its user's session, and be pressed again. */
import type { OperationState } from 'oncefetch';

export class Known {
  #for: string | undefined;
  #at = Date.now();

  /** It was rendered anew, for this user. */
  rendered(user: string | undefined): void {
    this.#for = user;
    this.#at = Date.now();
  }

  /**
   * Whether it is said of this user's operation, and of none that began later, as `repeat` allows. Where the page learns only
   * later who its user is, the first one is meant.
   */
  isDone(element: Element, user: string | undefined, state: OperationState): boolean {
    this.#for ??= user;
    const later = state.phase === 'unsettled' && state.pending.createdAt > this.#at;
    return element.getAttribute('known') === 'done' && this.#for === user && !later;
  }
}
