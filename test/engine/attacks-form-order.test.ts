/** Goal: the order of fields with one name is content: a list that was sorted anew is a change. */
import { expect } from 'vitest';
import { answers } from '../support/server.js';
import { test, URL_, watched } from '../support/world.js';

const formOf = (...fields: readonly (readonly [string, string])[]): FormData => {
  const form = new FormData();
  for (const [name, value] of fields) form.append(name, value);
  return form;
};

test('with if-changed, a list in another order is sent; other fields may come in any order', async ({ world }) => {
  const { tab, once } = world.open({ repeat: 'if-changed' });
  const save = (form: FormData) => world.end(tab, watched(once.fetch(URL_, { method: 'POST', body: form, once: ['playlist', 1] })));
  world.server.plays(answers(201), answers(201));
  await save(formOf(['song', 'a'], ['song', 'b'], ['title', 't']));
  await save(formOf(['title', 't'], ['song', 'a'], ['song', 'b']));
  expect(world.server.arrivals).toHaveLength(1);
  expect((await save(formOf(['song', 'b'], ['song', 'a'], ['title', 't']))).outcome).toMatchObject({ type: 'fresh' });
  expect(world.server.arrivals).toHaveLength(2);
});
