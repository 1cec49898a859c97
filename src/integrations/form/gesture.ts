/** Tells a press from the rest of the same gesture: the second click of a double click, or a key that is held down. */

export interface Gestures {
  /** Listens to the window that an element is in. `document.open` takes listeners away, and an element may be moved to another window. */
  readonly hear: (window: Window | null) => void;
  /**
   * Whether an earlier submit came of the same gesture as the present one. Where the answer is quick, the first one has ended by then, and
   * with `repeat: 'always'` the rest of the gesture would be another effect.
   */
  readonly goesOn: () => boolean;
}

let known: Gestures | undefined;

/** One for all definitions of the element: a gesture may begin in an element of one and end in that of another. */
export function gestures(): Gestures {
  known ??= listening();
  return known;
}

function listening(): Gestures {
  let goesOn = false;
  let pressed = false;
  const is = (more: boolean): void => {
    goesOn = more;
    if (!more) pressed = false;
  };
  // A second click may still follow, when the focus has gone to another window.
  const ends = (): void => {
    goesOn = false;
  };
  const clicked = ({ detail }: MouseEvent): void => {
    // Code and keys click without a count.
    if (!detail) return;
    is(detail > 1);
    // The click submits at once. What code submits later is no part of it.
    setTimeout(() => {
      goesOn = false;
    });
  };
  const typed = ({ repeat }: KeyboardEvent): void => is(repeat);
  return {
    // What is heard already is not heard twice.
    hear(window) {
      window?.addEventListener('click', clicked, true);
      window?.addEventListener('keydown', typed, true);
      window?.addEventListener('keyup', ends, true);
      // A key may be let go in another window.
      window?.addEventListener('blur', ends);
    },
    goesOn() {
      const again = goesOn && pressed;
      pressed = true;
      return again;
    },
  };
}
