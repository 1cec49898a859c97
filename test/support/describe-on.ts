import { describe, expect, test } from 'vitest';

/** `describe`. If something is `missing` on this machine, one test takes its place, which is skipped with that reason, or fails with CI=true. */
export const describeOn = (missing: string | undefined): ((name: string, tests: () => void) => void) =>
  missing === undefined
    ? describe
    : (name) =>
        test(name, ({ skip }) => {
          expect(process.env['CI'], missing).not.toBe('true');
          skip(missing);
        });
