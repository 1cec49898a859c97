/**
 * Goal: a passer-by sees the point without a click; whoever takes over, or wants less motion, is left in peace; a link
 * replays a run. Method: real Chromium with motion allowed, the ledger as judge.
 */
import type { Page } from 'playwright';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { Playground } from './support/playground.ts';

let playground: Playground;
beforeAll(async () => {
  playground = await Playground.start();
});
afterAll(() => playground?.stop());
afterEach(() => playground.clear());

const open = (path = '/', reducedMotion: 'reduce' | 'no-preference' = 'no-preference'): Promise<Page> => playground.visitor(path, { reducedMotion });
const steps = (page: Page): Promise<string[]> => page.getByRole('region', { name: 'Five carts, five faults' }).getByRole('listitem').allTextContents();
const charges = (): number => playground.charges('oncefetch').length;

test('the lanes start by themselves, and go on to the next cart; Pause stops them', async () => {
  const page = await open();
  await expect.poll(charges, { timeout: 30_000 }).toBeGreaterThanOrEqual(2);
  await page.getByRole('button', { name: 'Pause' }).click();
  // A cart that was under way is paid to its end.
  await page.getByText(/^Run \d+\. plain fetch, (\d+) customers: .+\. oncefetch, \1 customers: no harm\.$/).waitFor();
  await playground.exactlyOnce();
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
  const customers = playground.shop.query<{ lane: string; ended: string | null; made: number } & Record<string, unknown>>(
    "SELECT lane, ended, (SELECT count(*) FROM charges WHERE charges.lane = intents.lane AND charges.cart = intents.cart) AS made FROM intents WHERE lane = 'plain fetch'",
  );
  const twice = customers.filter(({ made }) => made > 1).length;
  const none = customers.filter(({ made, ended }) => made === 0 && ended !== 'refused').length;
  expect(customers).toHaveLength(5);
  expect(twice + none).toBeGreaterThan(0);
  const said = page.getByText(/^Run 1234\. plain fetch, 5 customers: .+\. oncefetch, 5 customers: no harm\.$/);
  await said.waitFor();
  const line = await said.innerText();
  expect(Number(/(\d+) charged (?:twice|more than once)/.exec(line)?.[1] ?? 0)).toBe(twice);
  expect(Number(/(\d+) not charged/.exec(line)?.[1] ?? 0)).toBe(none);

  await page.reload();
  await said.waitFor();
  const other = await playground.visitor('/?seed=1234', { reducedMotion: 'no-preference' });
  await other.getByText(/^Run 1234\. plain fetch, 1 customer: /).waitFor();
});
