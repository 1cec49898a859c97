/** The parts of a Markdown file that tests check. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

export const root = join(import.meta.dirname, '../../..');

export interface Page {
  /** The path from the project's root, with `/` as separator. */
  readonly path: string;
  readonly text: string;
}

/** One fenced block. `wants`: the `name: value` lines of the HTML comment right before it. */
export interface Fence {
  readonly path: string;
  /** The number of its first line of code. */
  readonly line: number;
  readonly language: string;
  readonly code: string;
  readonly wants: Wants;
}

export type Wants = ReadonlyMap<string, readonly string[]>;

export const readPage = (path: string): Page => ({ path, text: readFileSync(join(root, path), 'utf8') });

/** README and everything in docs. */
export function readPages(): readonly Page[] {
  const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).map((path) => posix.join('docs', path.replaceAll('\\', '/')));
  return ['README.md', ...docs.filter((path) => path.endsWith('.md')).sort()].map(readPage);
}

/** A comment, if any, and the fence below it. */
const FENCE = /(?:^[ \t]*<!--(?<comment>(?:(?!-->)[\s\S])*)-->[ \t]*\n)?^(?<indent>[ \t]*)```(?<language>\w*)[^\n]*\n(?<code>[\s\S]*?)^[ \t]*```[ \t]*$/gm;

export function fencesOf({ path, text }: Page): readonly Fence[] {
  return [...text.matchAll(FENCE)].map((match) => {
    const { comment = '', indent = '', language = '', code = '' } = match.groups ?? {};
    const before = text.slice(0, match.index + match[0].indexOf('```'));
    return { path, line: before.split('\n').length + 1, language, code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''), wants: wantsOf(comment) };
  });
}

/** `name: value` lines. */
function wantsOf(comment: string): Wants {
  const wants = new Map<string, string[]>();
  for (const line of comment.split('\n').map((text) => text.trim())) {
    const [, name = '', value = ''] = /^([a-z][a-z ]*):\s*(.*)$/.exec(line) ?? [];
    if (name) wants.set(name, [...(wants.get(name) ?? []), value]);
  }
  return wants;
}

/** The text without fences and inline code, so that nothing in them counts as a link or a heading. */
export const proseOf = ({ text }: Page): string =>
  text.replaceAll(/^[ \t]*```[\s\S]*?^[ \t]*```[ \t]*$/gm, '').replaceAll(/`[^`\n]*`/g, (code) => code.replaceAll(/[[\]()#]/g, ' '));

export interface Link {
  readonly path: string;
  readonly target: string;
}

export const linksOf = (page: Page): readonly Link[] => {
  const prose = proseOf(page);
  const found = [...prose.matchAll(/!?\[[^\]]*\]\(([^)\s]+)(?:\s[^)]*)?\)/g), ...prose.matchAll(/<(?:img|a)\b[^>]*\b(?:src|href)="([^"]+)"/g)];
  return found.map(([, target = '']) => ({ path: page.path, target }));
};

/** The anchors that GitHub gives to headings. */
export function anchorsOf({ text }: Page): ReadonlySet<string> {
  const headings = text.replaceAll(/^[ \t]*```[\s\S]*?^[ \t]*```[ \t]*$/gm, '').matchAll(/^#{1,6}\s+(.+?)\s*$/gm);
  const slugs = [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
  return new Set(slugs);
}

/** The rows of the table below a heading, cell by cell, without the header row. */
export function tableUnder({ text }: Page, heading: string): readonly (readonly string[])[] {
  const start = text.indexOf(`\n${heading}\n`);
  if (start < 0) throw new Error(`there is no heading ${heading}`);
  const rows =
    /\n((?:\|.*\n)+)/
      .exec(text.slice(start + heading.length + 1))?.[1]
      ?.trimEnd()
      .split('\n') ?? [];
  return rows.slice(2).map((row) =>
    row
      .replace(/^\||\|$/g, '')
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim()),
  );
}
