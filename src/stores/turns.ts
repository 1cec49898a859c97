/** Turns for updates of the same record in this context, so that they seldom make each other's guesses wrong. */

/** Waits for a turn at a record. The result ends the turn. */
export type TakeTurn = (id: string, deadline: number) => Promise<() => void>;

/** Each update waits for the promise of the one before. */
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

/**
 * How long to wait at most before checking again whether a turn is over, ms; and how long a turn counts, ms, because a request may be
 * killed in the middle of it.
 */
const LOOK_MS_MAX = 5;
const TURN_MS_MAX = 500;

/** For runtimes where a request must not wait for another request's promise: each update checks now and then, by its own timer. */
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
