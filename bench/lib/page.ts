/** docs/cost.md, whole. */
import { chapters } from './chapters.ts';
import { goals } from './goals.ts';
import { results, where } from './results.ts';

export const page = (): string => `# Cost

What oncefetch adds to a request, measured beside what others add, and where its own goals are not met. This page is made by \`npm run bench:docs\` from the results in \`bench/results\`.

**Timings are ratios.** Every number was taken on one machine (${where()}), which did other work meanwhile. All clients ran in turn in one process, and what is compared was measured in the same round. The times say little about your machine; how they compare says more. Differences under ten percent are noise. Counts and sizes are exact.

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
| \`npm run bench:browsers\` | each store of a page, empty and full |
| \`npm run bench:records\` | stores with up to a million records, and a restart with 10,000 open operations |
| \`npm run bench:size\` | bundles |
| \`npm run bench:memory\` | heap and handles over 100,000 operations |

What the hot path does is counted in \`npm test\` (\`test/cost\`, \`test/browser/engine/hot-path.test.ts\`): those numbers cannot change unseen.
`;
