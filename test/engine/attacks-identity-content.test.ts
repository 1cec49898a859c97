/** Goal: a call that is named by its content belongs to whoever made it, however long its body takes to be read. */
import { expect } from 'vitest';
import { answers } from '../support/server.js';
import { rest, SECOND, test, URL_, watched } from '../support/world.js';

test.for([[true], [{}]] as const)(
  'A12: another person logs in while the body is read: nothing goes out with the new credentials (%j)',
  async ([once], { world, tab }) => {
    let user = 'ann';
    const client = tab.once({ namespace: () => user, headers: () => ({ authorization: user }) });
    world.server.otherwise = answers(201);
    let end: () => void = () => {};
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        end = () => {
          controller.enqueue(new TextEncoder().encode('{"amount":10}'));
          controller.close();
        };
      },
    });
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body, once } as unknown as Parameters<typeof client.fetch>[1];
    const call = watched(client.fetch(URL_, init));
    await rest();
    user = 'bob';
    end();
    const { outcome } = await world.end(tab, call);
    await world.clock.advance(SECOND);
    expect(world.server.arrivals.map(({ headers }) => headers.get('authorization'))).toEqual([]);
    // What a name stood for may have been moved or cleared at the log-in. Without one, it is a new operation.
    expect(outcome).toMatchObject({ effect: once === true ? 'unknown' : 'none' });
  },
);

test.for([
  ['is here by then: nothing goes out', 'bob', 0],
  ['is gone again by then: it goes out once, as the call of whoever made it', 'ann', 1],
] as const)('another person logs in while an async fingerprint answers, and %s', async ([_, atTheEnd, sent], { world, tab }) => {
  let user = 'ann';
  let answer: () => void = () => {};
  const client = tab.once({
    namespace: () => user,
    headers: () => ({ authorization: user }),
    fingerprint: ({ body }) => new Promise((resolve) => (answer = () => resolve(String(body)))),
  });
  world.server.otherwise = answers(201);
  const post = () => watched(client.fetch(URL_, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"amount":10}', once: true }));
  const call = post();
  await rest();
  const first = answer;
  user = 'bob';
  // Bob sends the very same content, which is an operation of his own.
  const other = post();
  await rest();
  answer();
  expect((await world.end(tab, other)).outcome).toMatchObject({ effect: 'done' });
  user = atTheEnd;
  first();
  expect((await world.end(tab, call)).outcome).toMatchObject({ effect: sent ? 'done' : 'unknown' });
  expect(world.server.arrivals.map(({ headers }) => headers.get('authorization'))).toEqual(['bob', ...Array(sent).fill('ann')]);
  expect(new Set(world.server.keys).size).toBe(1 + sent);
});
