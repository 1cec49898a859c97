/** Helpers for the tests of browser stores. */
import { indexedDbStore } from '../../../src/stores/browser/indexeddb.js';

type Class = { readonly prototype: object };
type Method = (...args: unknown[]) => unknown;

/** Counts the calls of these methods. The counting is never switched off. */
export function countCalls(...classes: readonly [Class, readonly string[]][]): () => number {
  let calls = 0;
  for (const [{ prototype }, names] of classes) {
    for (const name of names) {
      replaceMethod(
        { prototype },
        name,
        (original) =>
          function (...args) {
            calls++;
            return original.apply(this, args);
          },
      );
    }
  }
  return () => calls;
}

/** Replaces a method. Returns a function that restores it. */
export function replaceMethod<T extends Class>(
  { prototype }: T,
  name: string,
  make: (original: Method) => (this: unknown, ...args: unknown[]) => unknown,
): () => void {
  return replaceProperty(prototype, name, { value: make(Reflect.get(prototype, name)), writable: true });
}

/** Replaces a global, or a property of `of`. Returns a function that restores it. */
export function replaceProperty(of: object, name: string, descriptor: PropertyDescriptor): () => void {
  const own = Object.getOwnPropertyDescriptor(of, name);
  Object.defineProperty(of, name, { ...descriptor, configurable: true });
  return () => {
    if (own) Object.defineProperty(of, name, own);
    else Reflect.deleteProperty(of, name);
  };
}

export function withoutLocks<T>(work: () => T): T {
  const restore = replaceProperty(navigator, 'locks', { value: undefined });
  try {
    return work();
  } finally {
    restore();
  }
}

export const settled = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

/** Puts a value into the database without the store, so that the store finds it. */
export async function plantInDatabase(name: string, id: string, value: unknown): Promise<void> {
  const store = indexedDbStore({ name });
  await store.read(id);
  await store.close();
  const db = await settled(indexedDB.open(name));
  const transaction = db.transaction('records', 'readwrite');
  transaction.objectStore('records').put(value, id);
  await new Promise<void>((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
  });
  db.close();
}

let databases = 0;

/** A name that no other test has. */
export const freshName = (): string => `oncefetch-test-${Date.now().toString(36)}-${databases++}`;
