/** A reporter that names every skipped test with its reason, on the screen and in the JSON report's `meta`. */

/** @import { Reporter, TestCase } from 'vitest/node' */

/** @implements {Reporter} */
export default class Skipped {
  /** @type {string[]} */
  #lines = [];

  /** @param {TestCase} test */
  onTestCaseResult(test) {
    const result = test.result();
    if (result.state !== 'skipped') return;
    const reason = result.note ?? 'no reason given';
    Object.assign(test.meta(), { skipped: reason });
    this.#lines.push(`Skipped: ${test.project.name}: ${test.fullName}: ${reason}`);
  }

  onTestRunEnd() {
    for (const line of this.#lines) console.log(line);
  }
}
