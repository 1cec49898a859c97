/** The timers that React Native gets from its host. Their ids are numbers, and none fires in an app that is dead. */
export function timersOf(lives: () => boolean) {
  const running = new Map<number, NodeJS.Timeout>();
  let last = 0;
  const start = (begin: (fire: () => void) => NodeJS.Timeout, fire: () => void): number => {
    const id = ++last;
    running.set(
      id,
      begin(() => {
        if (lives()) fire();
      }),
    );
    return id;
  };
  const stop = (id: number) => {
    clearTimeout(running.get(id));
    running.delete(id);
  };
  type Work = (...given: unknown[]) => void;
  const FRAME_MS = 16;
  return {
    globals: {
      setTimeout: (work: Work, ms?: number, ...given: unknown[]) =>
        start(
          (fire) => setTimeout(fire, ms),
          () => work(...given),
        ),
      setInterval: (work: Work, ms?: number, ...given: unknown[]) =>
        start(
          (fire) => setInterval(fire, ms),
          () => work(...given),
        ),
      requestAnimationFrame: (work: Work) =>
        start(
          (fire) => setTimeout(fire, FRAME_MS),
          () => work(performance.now()),
        ),
      clearTimeout: stop,
      clearInterval: stop,
      cancelAnimationFrame: stop,
    },
    stopAll: () => {
      for (const timer of running.values()) clearTimeout(timer);
    },
  };
}
