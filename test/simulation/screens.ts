/** The screens of a page, one for each button. What they show goes into the ledger. */
import { type Operation, operation } from '../../src/entries/index.js';
import type { Context } from './context.js';
import type { World } from './world.js';

export class Screens {
  readonly #world: World;
  readonly #context: Context;
  readonly #open = new Map<number, Operation>();

  constructor(world: World, context: Context) {
    this.#world = world;
    this.#context = context;
    for (let name = 0; name < world.options.workload.operations; name++) this.#mount(name);
  }

  #mount(name: number): void {
    const { once, other } = this.#context;
    const shown = operation((name % 2 && other) || once, ['pay', name]);
    this.#open.set(name, shown);
    let last = shown.state;
    shown.subscribe(() => {
      const { state } = shown;
      if (state === last || this.#context.dead || this.#context.closed) return;
      last = state;
      this.#says(name, state);
    });
  }

  /** Records the end that a screen shows. The checkers treat it like an end that a caller was told. */
  #says(name: number, state: Operation['state']): void {
    const world = this.#world;
    const { id, device } = this.#context;
    const op = world.opFor(device.user, name, 1);
    world.log(() => `${id} shows ${op.user} ${op.label}: ${state.phase} ${state.phase === 'settled' ? state.outcome.type : ''}`);
    if (state.phase !== 'settled') return;
    const told = { at: world.time.now, by: 'event', outcome: state.outcome, status: undefined, code: undefined, error: undefined } as const;
    world.books.see({ kind: 'told', call: undefined, op, told });
  }

  atRest(): void {
    const world = this.#world;
    const { id, device } = this.#context;
    for (const [name, { state }] of this.#open) {
      const op = world.opFor(device.user, name, 1);
      if (!world.untold(op)) world.books.see({ kind: 'shown', op, context: id, state, stored: world.storedFor(this.#context, name) });
    }
  }
}
