/** What is left of a record when its requests and its answer go. */
import type { OnceRecord } from './record.js';

type Gone = 'dueAt' | 'previous' | 'lease' | 'meta' | 'request' | 'earlier' | 'retryAt' | 'spentAt' | 'link' | 'answer';
type Bare<Kind> = Kind extends unknown ? Omit<Kind, Gone> : never;

/**
 * The record without what a person could read in it (requests, answer, `meta`), and without what matters only while it is pending. These members are set
 * to `undefined`, because V8 copies all members of an object much faster than all but some.
 */
export const bare = <Kind extends OnceRecord>(record: Kind): Bare<Kind> =>
  ({
    ...record,
    dueAt: undefined,
    previous: undefined,
    lease: undefined,
    meta: undefined,
    request: undefined,
    earlier: undefined,
    retryAt: undefined,
    spentAt: undefined,
    link: undefined,
    answer: undefined,
  }) satisfies Readonly<Record<Gone, undefined>> as unknown as Bare<Kind>;
