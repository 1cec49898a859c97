/**
 * The headline of the page: how many customers of this run came to harm. The number of charges does not show harm,
 * because a double charge makes up for a missing one.
 */
import { type CartFacts, LANES, type LaneName } from './shop.ts';

const RUN = 'playground.run';

interface Run {
  readonly title: string;
  readonly carts: readonly string[];
}

const saved = (): Run => JSON.parse(sessionStorage.getItem(RUN) ?? '{"title":"","carts":[]}') as Run;
const save = (run: Run): void => sessionStorage.setItem(RUN, JSON.stringify(run));

/** Starts a run. All later customers belong to it, even after a reload of the tab. */
export const beginRun = (title: string): void => save({ title, carts: [] });

/** Adds a customer to the current run. */
export function joinRun(cart: string): void {
  const run = saved();
  if (!run.carts.includes(cart)) save({ ...run, carts: [...run.carts, cart] });
}

/** The customers of a lane who came to harm. A customer may be counted under two kinds of harm. */
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
