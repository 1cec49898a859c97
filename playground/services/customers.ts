/** Customers who place one order after another, and press again until the order is placed. */
import { createOnce, type Feature, memoryStore } from 'oncefetch';

const CUSTOMERS = 8;
/** One in this many orders is a double click. */
const DOUBLE_EVERY = 5;
/** One in this many orders is pressed again after it was placed, as if from a page that was still open. */
const AGAIN_EVERY = 10;

async function customer(url: string, todo: string[], feature: Feature): Promise<void> {
  const once = createOnce({ store: memoryStore(), limits: { attemptMs: 3000 }, retry: { minDelayMs: 20, maxDelayMs: 200 }, use: [feature] });
  for (let order = todo.pop(); order; order = todo.pop()) {
    const name = order;
    const body = JSON.stringify({ order, amount: 100 });
    const press = () =>
      once.fetch(`${url}/orders`, { method: 'POST', body, once: ['order', name] }).then(
        ({ ok }) => ok,
        () => false,
      );
    const left = todo.length;
    const clicks = left % DOUBLE_EVERY === 0 ? [press, press] : [press];
    while (!(await Promise.all(clicks.map((click) => click()))).includes(true)) await new Promise((resolve) => setTimeout(resolve, 100));
    if (left % AGAIN_EVERY === 0) await press();
  }
}

/** Resolves when all customers have placed all orders. */
export function customers(url: string, orders: number, feature: Feature): Promise<unknown> {
  const todo = Array.from({ length: orders }, (_, n) => `o-${n}`);
  return Promise.all(Array.from({ length: CUSTOMERS }, () => customer(url, todo, feature)));
}
