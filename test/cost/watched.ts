/** Stores that note their calls, in a list into which the transport and the caller write as well. */
import type { Store } from '../../src/ports.js';

/** `store`, which notes every call in `steps`. */
export function watchedStore(store: Store, steps: string[]): Store {
  return {
    ...store,
    update(id, change, options) {
      steps.push(`commit ${options?.durability}`);
      return store.update(id, change, options);
    },
    read(id) {
      steps.push('read');
      return store.read(id);
    },
    scan(query) {
      steps.push('before' in query ? 'sweep' : 'list');
      return store.scan(query);
    },
  };
}

/** An SQLite database that notes its transactions, what each one must outlive, and every row that is asked for or written. */
export function watchedDatabase<T extends new (path: string) => object>(Database: T, steps: string[]): T {
  const noted = (database: object): object =>
    new Proxy(database, {
      get(target, name) {
        const value = Reflect.get(target, name, target) as unknown;
        if (typeof value !== 'function') return value;
        return (...given: string[]) => {
          const result = value.apply(target, given);
          if (name === 'exec') note(steps, String(given[0]));
          if (name !== 'prepare') return result;
          const [sql = ''] = given;
          return new Proxy(result as object, {
            get(statement, method) {
              const run = Reflect.get(statement, method, statement) as (...values: unknown[]) => unknown;
              return (...values: unknown[]) => {
                note(steps, sql);
                return run.apply(statement, values);
              };
            },
          });
        };
      },
    });
  return new Proxy(Database, { construct: (target, [path]) => noted(new target(path as string)) });
}

function note(steps: string[], sql: string): void {
  if (/^PRAGMA synchronous = /.test(sql)) steps.push(sql);
  else if (/^(BEGIN|COMMIT|ROLLBACK)/.test(sql)) steps.push(sql);
  else if (/^SELECT.*oncefetch_records WHERE id = /.test(sql)) steps.push('get');
  else if (/^(INSERT INTO|DELETE FROM) oncefetch_records/.test(sql)) steps.push('write');
  else if (/^SELECT.*oncefetch_records/.test(sql)) steps.push('scan');
}
