import { afterAll, beforeAll, expect, test } from 'vitest';
import { Playground } from './support/playground.ts';
let playground: Playground;
beforeAll(async () => { playground = await Playground.start(); });
afterAll(() => playground?.stop());
test('x', async () => {
  const tab = await playground.customer();
  await tab.choose('503 after charging', 'every request');
  await tab.once.pay();
  await tab.once.says(/Not sure/);
  await tab.choose('Nothing');
  await tab.reload();
  await tab.quantity(3);
  await tab.once.pay();
  await tab.once.says(/^(Not sure yet|Paid €42\.00)/);
  console.log('after edit', await tab.once.status.textContent());
  await tab.quantity(2);
  for (let i = 0; i < 2; i++) { await tab.once.check(); await tab.page.waitForTimeout(1500); console.log('after check', await tab.once.status.textContent()); }
  await tab.once.pay(); await tab.page.waitForTimeout(1500); console.log('after pay with the first payload', await tab.once.status.textContent());
  console.log(await tab.once.attempts.allTextContents());
});
