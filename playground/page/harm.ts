/** The page's headline: what became of the customers of this run. Charges alone do not show it: a doubled one hides a lost one. */
import { type CartFacts, LANES, type LaneName } from './shop.ts';

const RUN = 'playground.run';

interface Run {
  readonly title: string;
  readonly carts: readonly string[];
}

const saved = (): Run => JSON.parse(sessionStorage.getItem(RUN) ?? '{"title":"","carts":[]}') as Run;
const save = (run: Run): void => sessionStorage.setItem(RUN, JSON.stringify(run));

/** From here on customers belong to this run; it goes on after a reload of the tab. */
export const beginRun = (title: string): void => save({ title, carts: [] });

/** A customer of the present run. */
export function joinRun(cart: string): void {
  const run = saved();
  if (!run.carts.includes(cart)) save({ ...run, carts: [...run.carts, cart] });
}

/** In words, such as "3 charged twice, 3 not charged, 2 told something untrue"; empty where nobody came to harm. */
export function harmOf(customers: readonly CartFacts[]): string {
  const often = customers.filter(({ made }) => made > 1);
  const unpaid = customers.filter(({ made, ended }) => made === 0 && ended !== null && ended !== 'refused');
  const misled = customers.filter(({ made, ended }) => (made === 0 ? ended === 'done' : ended === 'failed' || ended === 'refused'));
  return [
    [often.length, often.some(({ made }) => made > 2) ? 'charged more than once' : 'charged twice'] as const,
    [unpaid.length, 'not charged'] as const,
    [misled.length, 'told something untrue'] as const,
  ]
    .filter(([count]) => count > 0)
    .map(([count, what]) => `${count} ${what}`)
    .join(', ');
}

const ofLane = (lane: LaneName, carts: readonly CartFacts[]): string => {
  const customers = carts.filter((one) => one.lane === lane);
  return `${lane}, ${customers.length} ${customers.length === 1 ? 'customer' : 'customers'}: ${harmOf(customers) || 'no harm'}.`;
};

export function headlineOf({ title, carts }: Run, facts: readonly CartFacts[]): string {
  const own = facts.filter(({ cart }) => carts.includes(cart));
  if (own.length === 0) return '';
  return `${title && `${title}. `}${LANES.map((lane) => ofLane(lane, own)).join(' ')}`;
}

export const headline = (facts: readonly CartFacts[]): string => headlineOf(saved(), facts);
