/**
 * Goal: a server component may import the hooks, and no other file is marked as client code. Method: reads the
 * directives at the top of the built files, as a bundler does.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { entries, root } from './installed.js';

/** Directives stand before any statement, so this is long enough to contain them all. */
const TOP = 1000;

function directives(file: string): string[] {
  const found: string[] = [];
  const top = readFileSync(join(root, 'dist', file), 'utf8').slice(0, TOP);
  for (const statement of ts.createSourceFile(file, top, ts.ScriptTarget.Latest).statements) {
    if (!ts.isExpressionStatement(statement) || !ts.isStringLiteral(statement.expression)) break;
    found.push(statement.expression.text);
  }
  return found;
}

test.each(['react.js', 'react.cjs'])('%s says "use client" before anything else', (file) => expect(directives(file)[0]).toBe('use client'));

test('no other file says it, because oncefetch itself runs on server and client', () => {
  const others = readdirSync(join(root, 'dist')).filter((file) => /\.c?js$/.test(file) && !/^react\.c?js$/.test(file));
  expect(others.length).toBeGreaterThan(entries.length);
  expect(others.filter((file) => directives(file).includes('use client'))).toEqual([]);
});
