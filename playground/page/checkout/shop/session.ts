/** Who is here. A real shop asks its server; a guest gets an id of their own, too. */

export interface User {
  readonly id: string;
  readonly name: string;
}

const STORED = 'shop.user';
const GUEST = 'Guest';
const listeners = new Set<() => void>();

const newGuest = (): User => ({ id: `guest-${crypto.randomUUID()}`, name: GUEST });
const load = (): User => {
  const stored = localStorage.getItem(STORED);
  return stored === null ? save(newGuest()) : (JSON.parse(stored) as User);
};
function save(user: User): User {
  localStorage.setItem(STORED, JSON.stringify(user));
  return user;
}

class Session {
  user = load();

  get id(): string {
    return this.user.id;
  }

  get isGuest(): boolean {
    return this.user.name === GUEST;
  }

  /** Nothing can be pressed before: what a guest had open comes along first. */
  arrived = false;

  become(user: User = newGuest()): void {
    this.#enter(save(user));
  }

  arrive(): void {
    this.arrived = true;
    this.#changed();
  }

  /** Another tab logged in or out. */
  follow(arrive: () => void): void {
    addEventListener('storage', ({ key }) => {
      if (key !== STORED) return;
      this.#enter(load());
      arrive();
    });
  }

  #enter(user: User): void {
    this.user = user;
    this.arrived = false;
    this.#changed();
  }

  /** Tells the screens. */
  #changed(): void {
    for (const listener of listeners) listener();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
}

export const session = new Session();
