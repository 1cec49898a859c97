/** Writes the comparison as a Markdown table, and finds the rows in which oncefetch is not the best. */
import { readFileSync, writeFileSync } from 'node:fs';
import type { Cell } from './cell.ts';
import { LANES, type LaneName } from './lanes/names.ts';
import type { Scenario } from './scenarios.ts';

type Rows = ReadonlyMap<Scenario, ReadonlyMap<LaneName, Cell>>;

const COUNT = ['**not charged**', 'once', '**twice**', '**three times**'];

export function textOf({ charges, told, untrue }: Cell): string {
  const count = COUNT[charges] ?? `**${charges} times**`;
  if (untrue) return `${count}, **told otherwise**`;
  return told === 'unknown' ? `${count}, told "not sure"` : count;
}

export function table(rows: Rows, lanes: readonly LaneName[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const body = [...rows].map(([{ name }, row]) => line([name, ...lanes.map((lane) => textOf(row.get(lane) as Cell))]));
  return [line(['what happens', ...lanes.map((lane) => LANES[lane])]), line(['---', ...lanes.map(() => '---')]), ...body].join('\n');
}

/** How bad a cell is, lower is better: a wrong number of charges counts most, then an untrue answer, then "unknown". */
const harm = ({ charges, told, untrue }: Cell): number => Math.abs(charges - 1) * 4 + Number(untrue) * 2 + Number(told === 'unknown');

/** The scenarios in which another lane did better. */
export const beaten = (rows: Rows): readonly Scenario[] =>
  [...rows].flatMap(([scenario, row]) => {
    const own = row.get('oncefetch');
    return own && [...row.values()].some((cell) => harm(cell) < harm(own)) ? [scenario] : [];
  });

const BEGIN = '<!-- table: npm run playground:why -- --write -->\n';

/** Puts the table into a page, below its marker. */
export function written(page: string, text: string): void {
  const before = readFileSync(page, 'utf8');
  const at = before.indexOf(BEGIN);
  if (at < 0) throw new Error(`${page} has no ${BEGIN.trim()}`);
  const from = at + BEGIN.length;
  const end = before.indexOf('\n\n', from);
  writeFileSync(page, `${before.slice(0, from)}${text}${before.slice(end)}`);
}
