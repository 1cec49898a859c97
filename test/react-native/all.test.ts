/** Runs all suites of React Native. If its packages could not be installed, skips them and says why. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'vitest';

const reason = join(import.meta.dirname, '../../.tmp/react-native/missing');

if (existsSync(reason)) test('React Native', ({ skip }) => skip(readFileSync(reason, 'utf8')));
else for (const suite of ['packages', 'environments', 'hermes', 'controls', 'kills', 'example', 'table']) await import(`./${suite}.suite.ts`);
