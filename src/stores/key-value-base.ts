/** Records as text in an app's own key-value storage: what the stores of React Native have in common. */
import type { Store, Stored } from '../ports.js';
import { createStore, isStored, pageOf } from './base.js';
import { StoreFault } from './fault.js';
import { recordOf, textOf } from './text.js';

/** The text of a key; `null`, `undefined` or an empty text if there is none. */
export type Text = string | null | undefined;

/** An app's key-value storage. It may throw, or reject with, anything. */
export interface Pairs {
  get(key: string): Text | Promise<Text>;
  getMany(keys: readonly string[]): readonly Text[] | Promise<readonly Text[]>;
  keys(): readonly string[] | Promise<readonly string[]>;
  /** Changes one text in one step. `change` gets the present text, and returns a new one, `null` to remove it, or `undefined` for no change. */
  swap(key: string, change: (text: Text) => string | null | undefined): unknown;
}

/** Options of a store in an app's own storage. */
export interface PairsOptions {
  /** What all keys of the store begin with. @default 'oncefetch' */
  readonly prefix?: string | undefined;
}

/**
 * Makes a store over `pairs`. The app has one JavaScript runtime, and all of its code reaches the same pairs under `scope`. In a web build
 * there are tabs, and the packages use what the browser has, such as localStorage: the store is then what `localStorageStore` is.
 */
export function pairsStore(kind: string, scope: string, prefix: string, pairs: Pairs): Store {
  const { navigator } = globalThis;
  // Some libraries give an app a `document`, too.
  const inPage = 'document' in globalThis && navigator?.product !== 'ReactNative';
  const atomic = !inPage || !!navigator?.locks;
  const keyOf = (id: string) => `${prefix}/${id}`;
  const parsed = (text: Text) => (text ? recordOf(text) : undefined);
  const natively = async <T>(work: () => T): Promise<Awaited<T>> => {
    try {
      return await work();
    } catch (error) {
      throw pairsFault(scope, error);
    }
  };
  return createStore(
    // The operating system has the record. Whether it survives a power cut depends on the storage and the device.
    { kind, scope, survives: inPage ? 'context' : 'process', shared: 'origin', atomic },
    {
      async update(id, next) {
        let thrown: { readonly error: unknown } | undefined;
        const change = (text: Text): string | null | undefined => {
          try {
            const record = next(parsed(text));
            return record && textOf(record);
          } catch (error) {
            thrown = { error };
            throw error;
          }
        };
        try {
          await pairs.swap(keyOf(id), change);
        } catch (error) {
          throw thrown ? thrown.error : pairsFault(scope, error);
        }
      },
      read: (id) => natively(async () => parsed(await pairs.get(keyOf(id)))),
      scan: (query) =>
        natively(async () => {
          const keys = (await pairs.keys()).filter((key) => key.startsWith(keyOf('')));
          const found = (await pairs.getMany(keys)).map(parsed);
          // Compare the keys, because the prefix of another store may begin with this one.
          return pageOf(
            found.filter((record, n): record is Stored => isStored(record) && keyOf(record.id) === keys[n]),
            query,
          );
        }),
    },
  );
}

/** How SQLite and file systems say that they are full. Only their messages reach us. */
const FULL = /\bfull\b|quota|no space left|ENOSPC/i;

const messageOf = (error: unknown): string => String((error as { message?: unknown } | undefined)?.message ?? error);

/** Whether SQLite refused a call because of another one that is under way. */
export const isLocked = (error: unknown): boolean => / is locked/i.test(messageOf(error));

function pairsFault(scope: string, error: unknown): StoreFault {
  const says = messageOf(error);
  return new StoreFault(FULL.test(says) ? 'quota' : isLocked(error) ? 'blocked' : 'io', `${scope} failed: ${says}`, error);
}

/** Throws at once if a method is missing, which would otherwise show only at the first call. */
export function mustHave(storage: unknown, what: string, methods: readonly string[]): void {
  const missing = methods.find((method) => typeof (storage as Record<string, unknown> | undefined)?.[method] !== 'function');
  if (missing !== undefined) throw new TypeError(`once: ${what} must have a method ${missing}`);
}

const REALM = Symbol.for('oncefetch.storages');

/** What all copies of the package in one realm share. */
function realm(): { readonly turns: Map<string, Promise<unknown>> } {
  const here = globalThis as { [REALM]?: ReturnType<typeof realm> };
  here[REALM] ??= { turns: new Map() };
  return here[REALM];
}

/** Runs work when no other work with the same `name` is running. */
export function inTurn<T>(name: string, work: () => Promise<T>): Promise<T> {
  const { turns } = realm();
  const before = turns.get(name) ?? Promise.resolve();
  const mine = before.then(work, work);
  const end = mine
    .catch(() => {})
    .then(() => {
      if (turns.get(name) === end) turns.delete(name);
    });
  turns.set(name, end);
  return mine;
}
