/** A text that a test makes up, where the sources take only one that they have made themselves: an id, a key, a label. */
export const made = <T extends string>(text: string): T => text as T;
