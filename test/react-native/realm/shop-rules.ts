/**
 * A shop that charges once per key. The path of a request selects a network fault. The shop remembers what it saw. It
 * uses nothing of Node, because it also runs in Hermes.
 */
export interface Asked {
  readonly path: string;
  readonly id: string;
  readonly key: string;
  readonly body: string;
}

export type Deed =
  | { readonly does: 'say'; readonly status: number; readonly content: object; readonly headers: Readonly<Record<string, string>>; readonly afterMs: number }
  | { readonly does: 'drop' | 'hang' | 'cut' }
  | { readonly does: 'redirect'; readonly to: string };

export interface Seen {
  requests: number;
  charges: number;
  keys: Set<string>;
  bodies: Set<string>;
  aborted: number;
}

export interface Shop {
  answer(asked: Asked): Deed;
  saw(id: string): Seen;
}

const SLOW_MS = 60;
const HELLO = { says: 'héllo 世界 😀' };
const say = (status: number, content: object, headers: Readonly<Record<string, string>> = {}, afterMs = 0): Deed => ({
  does: 'say',
  status,
  content,
  headers,
  afterMs,
});
const DECLINED = say(422, { says: 'declined' });
const IN_PROGRESS = say(409, { code: 'idempotency_key_in_progress' }, { 'retry-after': '0' });

interface Turn {
  readonly id: string;
  readonly first: boolean;
  /** Charges the key, and returns whether it had been charged before. */
  charge(): boolean;
  /** Charges the key if it was not charged before, and returns the answer of the charge. */
  done(afterMs?: number): Deed;
}
const charged = (turn: Turn, deed: Deed): Deed => {
  turn.charge();
  return deed;
};

const PATHS: Readonly<Record<string, (turn: Turn) => Deed>> = {
  ok: ({ done }) => done(),
  form: ({ done }) => done(),
  slow: ({ done }) => done(SLOW_MS),
  'lose-answer': (turn) => (turn.first ? charged(turn, { does: 'drop' }) : turn.done()),
  '503': ({ first, done }) => (first ? say(503, {}) : done()),
  'in-progress': ({ first, done }) => (first ? IN_PROGRESS : done()),
  declined: () => DECLINED,
  'lose-then-decline': (turn) => (turn.first ? charged(turn, { does: 'drop' }) : DECLINED),
  hang: (turn) => (turn.first ? charged(turn, { does: 'hang' }) : turn.done()),
  cut: (turn) => (turn.first ? charged(turn, { does: 'cut' }) : turn.done()),
  redirect: (turn) => charged(turn, { does: 'redirect', to: `/page/${turn.id}` }),
};

export function createShop(): Shop {
  const seen = new Map<string, Seen>();
  const charges = new Set<string>();
  const saw = (id: string): Seen => seen.get(id) ?? { requests: 0, charges: 0, keys: new Set(), bodies: new Set(), aborted: 0 };
  return {
    saw,
    answer({ path, id, key, body }) {
      const own = saw(id);
      seen.set(id, own);
      const first = ++own.requests === 1;
      own.keys.add(key);
      own.bodies.add(body);
      const charge = () => {
        const known = charges.has(key);
        if (!known) own.charges++;
        charges.add(key);
        return known;
      };
      const done = (afterMs = 0) => say(201, HELLO, charge() ? { 'idempotent-replayed': 'true' } : {}, afterMs);
      return PATHS[path]?.({ id, first, charge, done }) ?? say(200, { says: 'please log in' });
    },
  };
}
