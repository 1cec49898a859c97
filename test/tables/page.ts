/** Generates docs/verdicts.md from the code. */
import { samples } from '../dialects/support/all.js';
import { fixtures } from '../dialects/support/fixtures.js';
import { answerRows, differingRows, documentedRows, EVIDENCE, polledRows } from './answers.js';
import { ALL, decisionRows } from './decisions.js';

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string =>
  [`| ${heads.join(' | ')} |`, `| ${heads.map(() => '---').join(' | ')} |`, ...rows.map((row) => `| ${row.map(cell).join(' | ')} |`)].join('\n');

const HEADS = ['evidence', 'read as, if nothing is unsure', 'then', 'read as, after something unsure', 'then'];

const INTRO = `# What an answer means, and what oncefetch does then

\`npm run tables\` generates this page from the rules themselves (\`src/core/verdict.ts\`, \`src/core/decide.ts\`, \`src/dialects\`), and \`test/tables/tables.test.ts\` fails when they differ.

**Evidence** is how an attempt ended: an answer, an error, a timeout. oncefetch **reads** it as one of a few kinds. The kind, and what happened to the operation before, determine the **decision**: wait and send again under the same key, settle, or stop without settling. Decisions in **bold** settle the operation. Before "or" stands what may know more: oncefetch sends each **earlier payload** of the key again, to read how it ended, or asks your \`reconcile\`; what follows holds if that tells nothing.

**Unsure** means that an effect may be hidden: there was no answer, a 5xx, a 408, or work in progress. Once an operation is unsure, it stays so until it settles. A **marked** answer has the header by which a server says that it repeats an earlier one.

Five rules hold in every row:

1. After something unsure, a refusal settles as *none* in two cases only: it is sticky (the server is known to repeat it for this key), or the application gives the same refusal again when no copy of the request can be under way any more.
2. Only an answer of the application uses up a key. "Key in use" means that the next call sends the same key. A refusal that may come from in front of the application (a login, a proxy, a rate limit) never gives up the key. Where the platform may repeat a request without telling (browsers, React Native), such a refusal leaves the outcome unknown.
3. The words of a body settle nothing. Only a status, a header, or a code that the dialect names does.
4. No 5xx settles as *none*, except 501 and 505, which mean "never". No 4xx settles as *done*, unless the server says that the work is done already.
5. While the outcome is open, nothing is sent under another key.`;

/** The page as text. */
export function page(): string {
  const { generic } = samples;
  if (!generic) throw new Error('there is no generic dialect');
  const own = Object.entries(samples).filter(([name]) => name !== 'generic' && !name.includes(','));
  const dialects = own.map(([name, { dialect, fixtures: folder }]) => {
    const other = differingRows(dialect, generic.dialect);
    return [
      `### ${name}`,
      table([...HEADS, 'source'], documentedRows(folder, dialect)),
      other.length ? "It reads these answers differently from any server's:" : "It reads every other answer like any server's.",
      ...(other.length ? [table(HEADS, other)] : []),
    ].join('\n\n');
  });
  return [
    INTRO,
    `## Any server (\`generic\`)\n\n${EVIDENCE.length} kinds of evidence, each with and without something unsure before it, while attempts and time are left. Each row lists all kinds that are treated alike.`,
    table(HEADS, answerRows(EVIDENCE, generic.dialect)),
    'Answers that public servers document, as the generic dialect reads them:',
    table([...HEADS, 'source'], documentedRows('generic', generic.dialect)),
    '## Behind the link of a 202',
    "With `accepted: 'poll'`, oncefetch asks at the link until the work has ended. Your `verdict` reads the answer first, then the dialect (`polled`, `answers`), then oncefetch looks for a state in the document itself (a status of `failed`; Azure's, Google's and JSON:API's formats: `src/core/work-state.ts`), which may also consist of one word. A document with an error and no state (`error`, `errors`, `success: false`, `ok: false`) says nothing about the work; nor does `completed` beside an error, or a word of the service's own for work that is not over or went wrong (`pending_review`, `action_required`, `CREATE_IN_PROGRESS`, `finalizing`, `CREATE_FAILED`). Otherwise, after a 2xx with `Retry-After` oncefetch asks again, any other 2xx means that the work is done, and no answer means that it failed.",
    table(['evidence', 'the work', 'then'], polledRows(generic.dialect)),
    `## Every reading, in every situation\n\nEvery reading in all ${ALL.length} possible situations; a row names only the conditions that matter for it. "Answered" means that the last attempt had an answer, and "at the limits" that no attempt is left, or no time to wait for work in progress.`,
    table(['reading', 'when', 'decision'], decisionRows()),
    `## By dialect\n\n${fixtures.length} documented answers, each with the page, specification or source that shows it.`,
    ...dialects,
  ]
    .join('\n\n')
    .concat('\n');
}
