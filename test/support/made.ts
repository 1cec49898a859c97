/** A text that a test makes up as an id, a key or a label. The sources accept only those that they made themselves. */
export const made = <T extends string>(text: string): T => text as T;
