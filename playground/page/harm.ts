/** The headline of the page: the customers of this run who came to harm. Charges do not show harm: a doubled one makes up for a lost one. */
import { type CartFacts, LANES, type LaneName } from './shop.ts';

const RUN = 'playground.run';

interface Run {
  readonly title: string;
  readonly carts: readonly string[];
}

const saved = (): Run => JSON.parse(sessionStorage.getItem(RUN) ?? '{"title":"","carts":[]}') as Run;
const save = (run: Run): void => sessionStorage.setItem(RUN, JSON.stringify(run));

/** Starts a run. Later customers belong to it, also after a reload of the tab. */
export const beginRun = (title: string): void => save({ title, carts: [] });

/** Adds a customer to the present run. */
export function joinRun(cart: string): void {
  const run = saved();
  if (!run.carts.includes(cart)) save({ ...run, carts: [...run.carts, cart] });
}

/** The customers of a lane who came to harm. One customer may count in two ways. */
export interface Harm {
  readonly lane: LaneName;
  readonly customers: number;
  readonly chargedTwice: number;
  readonly notCharged: number;
  readonly toldUntrue: number;
}

const numberOf = (customers: readonly CartFacts[], which: (customer: CartFacts) => boolean): number => customers.filter(which).length;

function harmOf(lane: LaneName, carts: readonly CartFacts[]): Harm {
  const customers = carts.filter((one) => one.lane === lane);
  return {
    lane,
    customers: customers.length,
    chargedTwice: numberOf(customers, ({ made }) => made > 1),
    notCharged: numberOf(customers, ({ made, ended }) => made === 0 && ended !== null && ended !== 'refused'),
    toldUntrue: numberOf(customers, ({ made, ended }) => (made === 0 ? ended === 'done' : ended === 'failed' || ended === 'refused')),
  };
}

export interface Headline {
  readonly title: string;
  readonly lanes: readonly Harm[];
}

/** The headline, or `undefined` before the first customer. */
export function headlineOf({ title, carts }: Run, facts: readonly CartFacts[]): Headline | undefined {
  const own = facts.filter(({ cart }) => carts.includes(cart));
  return own.length === 0 ? undefined : { title: title || 'Your carts', lanes: LANES.map((lane) => harmOf(lane, own)) };
}

export const headline = (facts: readonly CartFacts[]): Headline | undefined => headlineOf(saved(), facts);
