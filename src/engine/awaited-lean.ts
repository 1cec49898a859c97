/** Replaces `awaited.ts` in production pages, where nothing is checked. It is a declared function, because esbuild leaves out calls of those that are empty. */
export function refusePromise(): void {}
