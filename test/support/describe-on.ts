import { describe, expect, test } from 'vitest';

/** `describe`; where something is missing, one test in place of them all, skipped with the reason. With CI=true it fails. */
export const describeOn = (missing: string | undefined): ((name: string, tests: () => void) => void) =>
  missing === undefined
    ? describe
    : (name) =>
        test(name, ({ skip }) => {
          expect(process.env['CI'], missing).not.toBe('true');
          skip(missing);
        });
