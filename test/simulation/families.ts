/** The families of servers, as far as they differ in what a client can see. Plain data. */

/** What a copy gets while another one of its key is worked on. */
export type Busy = '409-retry-after' | '409' | 'held-open' | 'wordings' | '429' | '202';

export interface ServerOptions {
  readonly family: string;
  /** `false`: it knows nothing of keys. */
  readonly honours: boolean;
  readonly busy: Busy;
  /** What a copy gets whose key is done. @default the first answer again */
  readonly done?: 'answer' | 'done-elsewhere' | '429' | undefined;
  /** Replays bear a marker. */
  readonly marker: boolean;
  /** Refusals are kept for the key. */
  readonly keepsRefusals: boolean;
  /** A 500 is kept for the key, whether the effect is there or not. */
  readonly keepsErrors: boolean;
  /** One key with another payload: a mismatch answer, or the first one's answer. */
  readonly mismatch: 422 | 400 | 'replays';
  /** It compares bytes, also where an app says that a payload is the same. */
  readonly comparesBytes?: boolean | undefined;
  readonly windowMs: number;
  readonly workMs: readonly [number, number];
  /** Share of payloads that are declined, always. */
  readonly declined: number;
  /** Keys count for all accounts together. */
  readonly anyAccount?: boolean | undefined;
  /** Within what a key counts, besides the account: the same key elsewhere is another one. @default the origin */
  readonly scope?: readonly ('origin' | 'endpoint' | 'method')[] | undefined;
  /** It answers 202 at once, with a link at which the work can be asked after. */
  readonly accepts?: boolean | undefined;
  /** … and what it accepts is as good as done; what it declines, it declines at once. */
  readonly surely?: boolean | undefined;
  /** What is found at the link when the work has failed: a word that only its dialect knows, or one in common use. */
  readonly failedWord?: string | undefined;
  /** A success streams its answer, line by line, for so long, ms. */
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

/** Those whose every answer is the draft's, or nearly. */
export const HONEST = ['409-retry-after', '409-retry-after, refusals not kept', 'held-open', '409 bare, no marker', 'errors kept', 'another payload replays'];
/** Those with words of their own for what a key has met. */
export const WORDED = ['its own words', 'its own words, no marker', '429 for a duplicate', '202 for a duplicate', 'done elsewhere'];
