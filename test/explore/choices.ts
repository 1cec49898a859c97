/** A schedule: the choices that were made in it, and what each of them cost. */

/** One way in which the world can go on. The first of several options is what happens without faults, and costs nothing. */
export interface Option {
  readonly label: string;
  /** The cost in faults: the option is a fault of the world, or an action of a person. */
  readonly faults?: number;
  /** The cost in switches: another context, copy or call goes on than the one whose turn it is. */
  readonly switches?: number;
}

export interface Bounds {
  readonly faults: number;
  readonly switches: number;
}

/** A point where the world could have gone on in more than one way. */
export interface Point {
  readonly options: readonly Option[];
  /** Its number among all choices of its schedule. It also counts choices in which the bounds left only one option, so it is the same for any bounds. */
  readonly number: number;
  readonly left: Bounds;
  taken: number;
}

/** Chooses an option by its index; `undefined` takes the first one. */
export type Script = (at: number, options: readonly Option[]) => number | undefined;

/** Thrown by a script that names an option which is not there. */
export class NoSuchChoice extends Error {}

export class Chooser {
  readonly points: Point[] = [];
  /** No faults and no switches any more. */
  calm = false;
  /** Called with every choice but the first option, so that the history of the step's owner shows it. */
  chosen: (label: string) => void = () => {};
  readonly #script: Script;
  #number = 0;
  readonly #left: { faults: number; switches: number };

  constructor(bounds: Bounds, script: Script) {
    this.#left = { ...bounds };
    this.#script = script;
  }

  get left(): Bounds {
    return { ...this.#left };
  }

  /** Whether the bounds allow more than one option. */
  open(options: readonly Option[]): boolean {
    return options.filter((one) => this.#affords(one)).length > 1;
  }

  #affords({ faults = 0, switches = 0 }: Option): boolean {
    return faults <= this.#left.faults && switches <= this.#left.switches;
  }

  /**
   * The index of the chosen option. Options that the bounds forbid are not offered. `more`: whether there are further options that the
   * caller left out because of the bounds.
   */
  choose(options: readonly Option[], more: () => boolean = () => false): number {
    if (this.calm || (options.length < 2 && !more())) return 0;
    const number = this.#number++;
    const open = options.filter((one) => this.#affords(one));
    if (open.length < 2) return 0;
    const left = this.left;
    const taken = this.#script(this.points.length, open) ?? 0;
    const option = open[taken];
    if (!option) throw new NoSuchChoice(`choice ${this.points.length} has ${open.length} options, not ${taken}`);
    this.points.push({ options: open, number, left, taken });
    this.#left.faults -= option.faults ?? 0;
    this.#left.switches -= option.switches ?? 0;
    if (taken > 0) this.chosen(option.label);
    return options.indexOf(option);
  }

  /** Whether a fault strikes. */
  strikes(label: string): boolean {
    return this.choose([{ label: `no ${label}` }, { label, faults: 1 }]) === 1;
  }
}

/** The schedule as text: the choices that were not the first option, each with its number. */
export const textOf = (points: readonly Point[]): string =>
  points.flatMap(({ taken, options, number }) => (taken ? [`${number}:${(options[taken] as Option).label}`] : [])).join('; ');

/** A script that plays such a text again. */
export function scriptOf(text: string): Script {
  const wanted = new Map(
    text
      .split(';')
      .map((one) => one.trim())
      .filter((one) => one !== '')
      .map((one) => {
        const [at = '', ...label] = one.split(':');
        return [Number(at), label.join(':')] as const;
      }),
  );
  return (at, options) => {
    const label = wanted.get(at);
    if (label === undefined) return undefined;
    const found = options.findIndex((option) => option.label === label);
    if (found < 0) throw new NoSuchChoice(`choice ${at} can't be "${label}"; it can be ${options.map((option) => `"${option.label}"`).join(', ')}`);
    return found;
  };
}

/** A schedule to play: its first choices are fixed, and after those it takes the first option each time. */
export interface Schedule {
  readonly chooser: Chooser;
  /** How many choices are fixed. */
  readonly fixed: number;
}

/** Depth first: each schedule repeats the one before up to its last choice that has an option left, and takes the next option there. */
export function* depthFirst(bounds: Bounds): Generator<Schedule, void, void> {
  let points: Point[] = [];
  for (;;) {
    const fixed = points.map(({ taken }) => taken);
    const chooser = new Chooser(bounds, (at) => fixed[at]);
    yield { chooser, fixed: fixed.length };
    points = chooser.points;
    while (points.length && (points.at(-1) as Point).taken + 1 >= (points.at(-1) as Point).options.length) points.pop();
    const branch = points.at(-1);
    if (!branch) return;
    branch.taken++;
  }
}
