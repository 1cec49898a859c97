/** Stands in for `expo-crypto`. Not random, so that runs can be compared. */
const world = globalThis as unknown as { readonly __launch: number };

let number = 0;
export const randomUUID = () => `00000000-0000-4000-8000-${String(world.__launch * 1000 + ++number).padStart(12, '0')}`;
