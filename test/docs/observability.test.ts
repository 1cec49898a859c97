/** Goal: the recipe in the guide is the file that is tested. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from './support/markdown.js';

test('docs/observability.md has the code of playground/services/telemetry.ts', () => {
  const file = readFileSync(join(root, 'playground/services/telemetry.ts'), 'utf8');
  const code = file.slice(file.indexOf('import '));
  expect(code.length).toBeGreaterThan(1000);
  expect(readFileSync(join(root, 'docs/observability.md'), 'utf8')).toContain(`\n${code}\`\`\``);
});
