/** Functions for `run` that ignore their signal and go on after their call has ended. */
import type { Attempt } from '../../src/entries/index.js';
import { rest, type World } from './world.js';

/** A function that ends when the test says so. */
export function slow<T = void>(then: (attempt: Attempt) => T = () => undefined as T) {
  let open = (): void => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const effect = async (attempt: Attempt): Promise<T> => {
    await gate;
    return then(attempt);
  };
  const end = async (): Promise<void> => {
    open();
    await rest();
  };
  return { effect, end };
}

/** A charge without a request, and the same behind a gate that `wake` opens. `charges` has the key of each. */
export function charging(world: World) {
  const charges: string[] = [];
  const charge = ({ key }: Attempt) => {
    charges.push(key);
    world.server.charged.add(key);
    return Response.json({ id: 'ch_1' });
  };
  const { effect, end } = slow(charge);
  return { charges, charge, slow: effect, wake: end };
}
