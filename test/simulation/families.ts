/** Families of servers, by the differences that a client can see. Plain data. */

/** The answer to a copy while the server works on another copy with the same key. */
export type Busy = '409-retry-after' | '409' | 'held-open' | 'wordings' | '429' | '202';

export interface ServerOptions {
  readonly family: string;
  /** `false`: the server ignores keys. */
  readonly honours: boolean;
  readonly busy: Busy;
  /** The answer to a copy whose key is done. @default the first answer again */
  readonly done?: 'answer' | 'done-elsewhere' | '429' | undefined;
  /** Replays have a marker. */
  readonly marker: boolean;
  /** The server keeps refusals for the key. */
  readonly keepsRefusals: boolean;
  /** The server keeps a 500 for the key, whether the effect happened or not. */
  readonly keepsErrors: boolean;
  /** The answer to another payload under the same key: a mismatch, or a replay of the first answer. */
  readonly mismatch: 422 | 400 | 'replays';
  /** The server compares bytes, although the app's `fingerprint` may say that two payloads are the same. */
  readonly comparesBytes?: boolean | undefined;
  readonly windowMs: number;
  readonly workMs: readonly [number, number];
  /** The share of payloads that are always declined. */
  readonly declined: number;
  /** Keys count across all accounts. */
  readonly anyAccount?: boolean | undefined;
  /** The scope in which a key counts, besides the account: in another scope, the same key is a new one. @default the origin */
  readonly scope?: readonly ('origin' | 'endpoint' | 'method')[] | undefined;
  /** The server answers 202 at once, with a link to the job. */
  readonly accepts?: boolean | undefined;
  /** With `accepts`: what the server accepts is certain to be done; what it declines, it declines at once. */
  readonly surely?: boolean | undefined;
  /** The state at the link when the work has failed: `failed`, for which the app's dialect has a `polled` function, or a word in common use. @default failed */
  readonly failedWord?: string | undefined;
  /** A success streams its answer line by line over this time, ms. */
  readonly streamsMs?: number | undefined;
}

const FAMILY: ServerOptions = {
  family: '409-retry-after',
  honours: true,
  busy: '409-retry-after',
  marker: true,
  keepsRefusals: true,
  keepsErrors: false,
  mismatch: 422,
  windowMs: 86_400_000,
  workMs: [5, 400],
  declined: 0.1,
};

export const FAMILIES: Readonly<Record<string, ServerOptions>> = {
  '409-retry-after': FAMILY,
  '409-retry-after, refusals not kept': { ...FAMILY, family: '409-retry-after, refusals not kept', keepsRefusals: false },
  'held-open': { ...FAMILY, family: 'held-open', busy: 'held-open', keepsRefusals: false },
  '409 bare, no marker': { ...FAMILY, family: '409 bare, no marker', busy: '409', marker: false, keepsRefusals: false },
  'errors kept': { ...FAMILY, family: 'errors kept', keepsErrors: true, mismatch: 400 },
  'another payload replays': { ...FAMILY, family: 'another payload replays', mismatch: 'replays', keepsRefusals: false },
  'its own words': { ...FAMILY, family: 'its own words', busy: 'wordings', workMs: [50, 3000] },
  'its own words, no marker': { ...FAMILY, family: 'its own words, no marker', busy: 'wordings', marker: false, workMs: [50, 3000] },
  '429 for a duplicate': { ...FAMILY, family: '429 for a duplicate', busy: '429', done: '429', marker: false, workMs: [50, 3000] },
  '202 for a duplicate': { ...FAMILY, family: '202 for a duplicate', busy: '202', keepsRefusals: false, workMs: [50, 20_000] },
  'done elsewhere': { ...FAMILY, family: 'done elsewhere', done: 'done-elsewhere', marker: false },
  accepts: { ...FAMILY, family: 'accepts', accepts: true, workMs: [50, 30_000] },
  'accepts, common words': { ...FAMILY, family: 'accepts, common words', accepts: true, failedWord: 'FAILED', workMs: [50, 30_000] },
  'accepts, surely': { ...FAMILY, family: 'accepts, surely', accepts: true, surely: true, workMs: [50, 30_000] },
  'no support': { ...FAMILY, family: 'no support', honours: false, marker: false, keepsRefusals: false },
};

/** Families whose answers are those of the IETF draft, or nearly. */
export const HONEST = ['409-retry-after', '409-retry-after, refusals not kept', 'held-open', '409 bare, no marker', 'errors kept', 'another payload replays'];
/** Families with words of their own for a key that is at work or done. */
export const WORDED = ['its own words', 'its own words, no marker', '429 for a duplicate', '202 for a duplicate', 'done elsewhere'];
