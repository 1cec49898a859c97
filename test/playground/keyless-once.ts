/** A stand-in for oncefetch that sends no key: the comparison must find its duplicates. */
export const memoryStore = () => undefined;

export const createOnce = () => ({
  fetch: async (url: string, init: RequestInit) => {
    for (let attempt = 1; ; attempt++) {
      try {
        const response = await fetch(url, { ...init, signal: AbortSignal.timeout(250) });
        const body = await response.text();
        if (response.ok || attempt === 20) return new Response(body, response);
      } catch (error) {
        if (attempt === 20) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  },
});

export const outcomeOf = (of: unknown) => ({ effect: of instanceof Response && of.ok ? 'done' : 'unknown' });
