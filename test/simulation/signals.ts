/** Cheap abort signals. Node's own cost a tenth of a world's time, most of it for their event machinery. */

type Listener = () => void;

class SimulatedSignal {
  aborted = false;
  reason: unknown = undefined;
  readonly #listeners = new Set<Listener>();

  addEventListener(_: 'abort', listener: Listener): void {
    // An aborted signal never aborts again.
    if (!this.aborted) this.#listeners.add(listener);
  }

  removeEventListener(_: 'abort', listener: Listener): void {
    this.#listeners.delete(listener);
  }

  /** Calls the listeners in the order in which they were added. A listener that an earlier one removes is not called. */
  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    for (const listener of this.#listeners) listener();
    this.#listeners.clear();
  }
}

class SimulatedController {
  readonly signal = new SimulatedSignal();

  abort(reason: unknown = new DOMException('This operation was aborted', 'AbortError')): void {
    this.signal.abort(reason);
  }
}

/** Replaces the global `AbortController`, for the engine, the app and the network of a world, until the returned function is called. */
export function simulateSignals(): () => void {
  const { AbortController: native } = globalThis;
  globalThis.AbortController = SimulatedController as unknown as typeof AbortController;
  return () => void (globalThis.AbortController = native);
}
