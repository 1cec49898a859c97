/**
 * Goal: a passer-by sees the point without a click; whoever takes over, or wants less motion, is left in peace; a link
 * replays a run. Method: real Chromium with motion allowed, the ledger as judge.
 */
import type { Page } from 'playwright';
import { expect, test } from 'vitest';
import { inPlayground, playground } from './support/playground.ts';

inPlayground();

const open = (path = '/', reducedMotion: 'reduce' | 'no-preference' = 'no-preference'): Promise<Page> => playground.visitor(path, { reducedMotion });
const steps = (page: Page): Promise<string[]> => page.getByRole('region', { name: 'Five carts, five faults' }).getByRole('listitem').allTextContents();
/** Customers, charged twice, not charged, told something untrue: what the headline says of a lane. */
const headline = async (page: Page, title: string, lane: string): Promise<number[]> => {
  const row = page.getByRole('table', { name: `${title}: who came to harm` }).getByRole('row', { name: lane });
  return (await row.getByRole('cell').allTextContents()).map(Number);
};
const charges = (): number => playground.charges('oncefetch').length;

/** What the ledger has, counted here by itself. */
function harmed(lane: string): number[] {
  const customers = playground.shop.query<{ ended: string | null; made: number } & Record<string, unknown>>(
    'SELECT ended, (SELECT count(*) FROM charges WHERE charges.lane = intents.lane AND charges.cart = intents.cart) AS made FROM intents WHERE lane = ?',
    lane,
  );
  const told = { paid: (ended: string | null) => ended === 'done', failed: (ended: string | null) => ended === 'failed' || ended === 'refused' };
  return [
    customers.length,
    customers.filter(({ made }) => made > 1).length,
    customers.filter(({ made, ended }) => made === 0 && ended !== 'refused').length,
    customers.filter(({ made, ended }) => (made > 0 ? told.failed(ended) : told.paid(ended))).length,
  ];
}

test('the lanes start by themselves, and go on to the next cart; Pause stops them', async () => {
  const page = await open();
  await expect.poll(charges, { timeout: 30_000 }).toBeGreaterThanOrEqual(2);
  await page.getByRole('button', { name: 'Pause' }).click();
  // A cart that was under way goes to its end; a customer of a slow shop may be told that nobody knows yet, which is true.
  await page.getByRole('region', { name: 'oncefetch' }).getByRole('button', { name: 'Cancel' }).waitFor({ state: 'hidden' });
  await playground.calm();
  const run = /\d+/.exec(await page.getByRole('link', { name: /^Link to run/ }).innerText())?.[0];
  const [customers] = harmed('oncefetch');
  await expect.poll(() => headline(page, `Run ${run}`, 'oncefetch')).toEqual([customers, 0, 0, 0]);
  const paid = charges();
  await page.waitForTimeout(5000);
  expect(charges()).toBe(paid);
  await page.getByRole('button', { name: 'Go on' }).click();
  await expect.poll(charges, { timeout: 30_000 }).toBeGreaterThan(paid);
});

test('with reduced motion nothing moves until Play is pressed', async () => {
  const page = await open('/?seed=7', 'reduce');
  await page.getByRole('button', { name: 'Play' }).waitFor();
  await page.waitForTimeout(3000);
  expect(playground.shop.query('SELECT 1 FROM intents')).toEqual([]);
  await page.getByRole('button', { name: 'Play' }).click();
  await expect.poll(charges, { timeout: 30_000 }).toBe(1);
});

test('a hand on the checkout takes over: the show is paused', async () => {
  const page = await open();
  await page.getByRole('button', { name: 'Pause' }).waitFor();
  await page.getByLabel('Card').focus();
  await page.keyboard.press('End');
  await page.getByRole('button', { name: /^(Go on|Play)$/ }).waitFor();
});

test('a link replays a run: the same seed, the same faults, in the ledger too; another seed, others', async () => {
  const first = await open('/?seed=7');
  const seven = await steps(first);
  expect(seven).toHaveLength(5);
  const href = await first.getByRole('link', { name: 'Link to run 7' }).getAttribute('href');
  expect(href).toBe('?seed=7');
  const armed = async (): Promise<unknown> => {
    await expect.poll(charges, { timeout: 30_000 }).toBeGreaterThan(0);
    return playground.charges('oncefetch')[0]?.amount;
  };
  const amount = await armed();
  await first.getByText(`What goes wrong: ${seven[0]}`).waitFor();
  await playground.clear();

  const second = await open(`/${href}`);
  expect(await steps(second)).toEqual(seven);
  expect(await armed()).toBe(amount);
  await second.getByText(`What goes wrong: ${seven[0]}`).waitFor();
  await playground.clear();
  expect(await steps(await open('/?seed=8', 'reduce'))).not.toEqual(seven);
});

test('a run is over: the headline counts harm of this run, as the ledger has it, and not of an earlier one', async () => {
  const page = await open('/?seed=1234');
  await page.getByRole('button', { name: 'Play again' }).waitFor({ timeout: 110_000 });
  await playground.calm();
  const said = harmed('plain fetch');
  // As many charges as carts say nothing: some customers paid twice, and others not at all.
  const [customers, twice, none] = said;
  expect(customers).toBe(5);
  expect(Math.min(twice ?? 0, none ?? 0)).toBeGreaterThan(0);
  await expect.poll(() => headline(page, 'Run 1234', 'plain fetch')).toEqual(said);
  await expect.poll(() => headline(page, 'Run 1234', 'oncefetch')).toEqual([5, 0, 0, 0]);

  await page.reload();
  await expect.poll(() => headline(page, 'Run 1234', 'plain fetch')).toEqual(said);
  const other = await playground.visitor('/?seed=1234', { reducedMotion: 'no-preference' });
  await expect.poll(async () => (await headline(other, 'Run 1234', 'plain fetch'))[0], { timeout: 30_000 }).toBe(1);
});
