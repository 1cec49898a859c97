/** Goal and method: those of `support/drive.ts`, with the app in the folder `react-router`. */
import type { Page } from 'playwright';
import { expect, test } from 'vitest';
import { APPS } from './support/apps.ts';
import { drive, pay } from './support/drive.ts';

drive(APPS.reactRouter, (world) => {
  test.each<[string, (page: Page) => Promise<unknown>]>([
    ['in another tab', (page) => page.context().clearCookies()],
    ['that only the server knows of', (page) => page.route('**/api/payments', (route) => route.fulfill({ status: 401, json: { title: 'Log in first' } }))],
  ])('a press after a log-out %s: nothing is charged, and the page says to log in, not that it is not sure', async (_, logOut) => {
    const page = await world().customer('/form');
    await logOut(page);
    await pay(page);
    await page.getByRole('alert').filter({ hasText: 'Please log in.' }).waitFor();
    expect(await page.getByText('Not sure').count()).toBe(0);
    expect(world().charges()).toEqual([]);
  });
});
