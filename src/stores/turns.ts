/** Whose turn it is at a record in this context, so that updates of one record seldom overtake each other's guesses. */

/** Waits for a turn; the result ends it. */
export type TakeTurn = (id: string, deadline: number) => Promise<() => void>;

/** Each waits for the promise of the one before. */
export function turnsByPromise(): TakeTurn {
  const turns = new Map<string, Promise<void>>();
  return async (id) => {
    const before = turns.get(id);
    let end = (): void => {};
    const mine = new Promise<void>((resolve) => {
      end = resolve;
    });
    turns.set(id, mine);
    await before;
    return () => {
      end();
      if (turns.get(id) === mine) turns.delete(id);
    };
  };
}

/** How often is looked whether a turn is over, ms; and how long one counts, because a request may be cut in the middle of it, ms. */
const LOOK_MS_MAX = 5;
const TURN_MS_MAX = 500;

/** The same where no request may wait for another one's promise: each looks now and then, by a timer of its own. */
export function turnsByLooking(): TakeTurn {
  const turns = new Map<string, { readonly until: number }>();
  return async (id, deadline) => {
    for (let now = performance.now(); now < deadline && (turns.get(id)?.until ?? 0) > now; now = performance.now())
      await new Promise((resolve) => setTimeout(resolve, Math.random() * LOOK_MS_MAX));
    const mine = { until: performance.now() + TURN_MS_MAX };
    turns.set(id, mine);
    return () => {
      if (turns.get(id) === mine) turns.delete(id);
    };
  };
}
