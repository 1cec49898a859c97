/** Abort signals that cost little: Node's own are a tenth of a world, and most of that is the machinery of its events. */

type Listener = () => void;

class SimulatedSignal {
  aborted = false;
  reason: unknown = undefined;
  readonly #listeners = new Set<Listener>();

  addEventListener(_: 'abort', listener: Listener): void {
    // One that has aborted never does so again.
    if (!this.aborted) this.#listeners.add(listener);
  }

  removeEventListener(_: 'abort', listener: Listener): void {
    this.#listeners.delete(listener);
  }

  /** In the order in which they came; one that another listener removes is not called. */
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

/** The engine, the app and the network of a world use these until what is returned is called. */
export function simulateSignals(): () => void {
  const { AbortController: native } = globalThis;
  globalThis.AbortController = SimulatedController as unknown as typeof AbortController;
  return () => {
    globalThis.AbortController = native;
  };
}
