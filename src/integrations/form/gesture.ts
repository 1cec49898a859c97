/** Tells a new press from the rest of an earlier gesture: the second click of a double click, or the repetitions of a key that is held down. */

export interface Gestures {
  /** Listens to an element's window. Call it whenever the element is inserted: `document.open` removes listeners, and the window may be another one. */
  readonly hear: (window: Window | null) => void;
  /**
   * Whether the same gesture as the present submit has caused an earlier one. If the answer is quick, that one has ended by now, and with
   * `repeat: 'always'` a second submit would be another effect. Call it once for each submit.
   */
  readonly goesOn: () => boolean;
}

let known: Gestures | undefined;

/** One object for all definitions of the element, because a gesture may begin in an element of one and end in an element of another. */
export function gestures(): Gestures {
  known ??= listening();
  return known;
}

function listening(): Gestures {
  let repeats = false;
  let pressed = false;
  /** A click or a key press has begun. `repeated`: it is part of the same gesture as the one before. */
  const began = (repeated: boolean): void => {
    repeats = repeated;
    if (!repeated) pressed = false;
  };
  // Keep `pressed`, because the second click of a double click may still follow, even if the focus has gone to another window.
  const ended = (): void => {
    repeats = false;
  };
  const clicked = ({ detail }: MouseEvent): void => {
    // A click that code or a key made has the count 0.
    if (!detail) return;
    began(detail > 1);
    // The click submits synchronously. A submit that code makes later does not belong to the gesture.
    setTimeout(ended);
  };
  const typed = ({ repeat }: KeyboardEvent): void => began(repeat);
  return {
    // Adding the same listener a second time has no effect.
    hear(window) {
      window?.addEventListener('click', clicked, true);
      window?.addEventListener('keydown', typed, true);
      window?.addEventListener('keyup', ended, true);
      // The key may be released in another window.
      window?.addEventListener('blur', ended);
    },
    goesOn() {
      const again = repeats && pressed;
      pressed = true;
      return again;
    },
  };
}
