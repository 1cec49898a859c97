/** The user who is logged in. A real shop asks its server. A guest has an id, too. */

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

  /** `false` until the guest's payments have moved to the user. Until then, the page shows no Pay button. */
  arrived = false;

  become(user: User = newGuest()): void {
    this.#enter(save(user));
  }

  arrive(): void {
    this.arrived = true;
    this.#changed();
  }

  /** Follows a log-in or log-out that happens in another tab. */
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

  /** Renders the screens again. */
  #changed(): void {
    for (const listener of listeners) listener();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
}

export const session = new Session();
