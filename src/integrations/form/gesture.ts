/** Tells a press from the rest of the same gesture: the second click of a double click, or a key that is held down. */

let known: (() => boolean) | undefined;

/**
 * Begins to listen, once for all definitions of the element. The result says of the present submit whether an earlier one came of the same
 * gesture. Where the answer is quick, the first one has ended by then, and with `repeat: 'always'` the rest of the gesture would be another
 * effect.
 */
export function gestures(): () => boolean {
  known ??= listen();
  return known;
}

function listen(): () => boolean {
  let goesOn = false;
  let pressed = false;
  const is = (more: boolean): void => {
    goesOn = more;
    if (!more) pressed = false;
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
  addEventListener('click', clicked, true);
  addEventListener('keydown', ({ repeat }) => is(repeat), true);
  addEventListener('keyup', () => is(false), true);
  // A key may be let go in another window.
  addEventListener('blur', () => is(false));
  return () => {
    const again = goesOn && pressed;
    pressed = true;
    return again;
  };
}
