/** Gives a test's text the branded type of an id, a key or a label, which otherwise only the sources can make. */
export const made = <T extends string>(text: string): T => text as T;
