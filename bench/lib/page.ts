/** The whole text of docs/cost.md. */
import { chapters } from './chapters.ts';
import { goals } from './goals.ts';
import { results, where } from './results.ts';

export const page = (): string => `# Cost

What oncefetch adds to a request, what other clients add, and which of its own goals oncefetch misses. \`npm run bench:docs\` writes this page from the results in \`bench/results\`.

**Compare the ratios, not the times.** Each table comes from one machine (${where()}), which did other work meanwhile. Figures that are compared come from the same round, in one process. Differences under ten percent are noise. Counts and sizes are exact.

## Goals

${goals(results)}

${chapters(results)}

## Measure it yourself

\`\`\`sh
npm ci && npm ci --prefix bench/peers
npm run bench:node && npm run bench:docs
\`\`\`

| command | measures |
| --- | --- |
| \`npm run bench:node\` | a call in Node, over a stub that answers at once |
| \`npm run bench:loopback\` | the same over a connection to this machine, one call at a time and 64 |
| \`npm run bench:stores\` | memory, SQLite, Redis and PostgreSQL, beside bare commits |
| \`npm run bench:shared\` | PostgreSQL and Redis, many calls at once, beside bare statements through the same client |
| \`npm run bench:processes\` | processes that share an SQLite file, on a fast disk and a slow one |
| \`npm run bench:browsers\` | each store of a page, empty and full |
| \`npm run bench:records\` | stores with up to a million records, and a restart with 10,000 open operations |
| \`npm run bench:size\` | bundles |
| \`npm run bench:memory\` | heap and handles over 100,000 operations |

\`npm test\` counts what a call does: commits, digests, timers, locks (\`test/cost\`, \`test/browser/engine/hot-path.test.ts\`). If these counts change, it fails.
`;
