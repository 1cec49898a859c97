/** Replaces `channel.ts` in production pages, which have no such channel. It is a declared function, because esbuild leaves out calls of those that are empty. */
export function openChannel(): void {}
