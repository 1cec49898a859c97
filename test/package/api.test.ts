/** Goal: the public API changes only on purpose. Method: compares the committed reports with those of the built types. */
import { expect, test } from 'vitest';
import { committed, reports } from '../../scripts/api.mjs';

const now = reports();

test.each(Object.keys(now))('api/%s is up to date (npm run api)', (file) => expect(committed()[file]).toBe(now[file]));

test('no entry that was removed still has a report', () => expect(Object.keys(committed()).sort()).toEqual(Object.keys(now).sort()));

/** Constants of which only the values are public, and types that the main entry exports or that nobody has to name. */
const UNNAMED = /^(WINDOWS_MS|HEADERS|FAULTS|BEFALLS|OperationState|ModelRequest|Call|OnceInit)$/;

test('every type that the public API mentions can be imported by name', () => {
  const forgotten = Object.values(now).flatMap((report) => [...report.matchAll(/ae-forgotten-export\) The symbol "(\w+)"/g)].map(([, name = '']) => name));
  expect(forgotten.filter((name) => !UNNAMED.test(name))).toEqual([]);
});
