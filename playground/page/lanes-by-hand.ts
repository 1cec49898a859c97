/** The short form of docs/why.md: how well lanes written by hand do, counted from the table of that page. */
import why from '../../docs/why.md?raw';
import { element, part } from './dom.ts';

/** What happened to the customers of a lane, one for each situation. */
export interface LaneCount {
  readonly lane: string;
  /** Charged once, and told so or told "not sure". */
  readonly right: number;
  readonly twice: number;
  readonly notCharged: number;
  readonly toldOtherwise: number;
}

const cellsOf = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());

/** Counts the cells of each lane in the table of this guide. */
export function laneCounts(guide: string): { readonly situations: number; readonly lanes: readonly LaneCount[] } {
  const [head = '', , ...lines] = guide.split('\n').slice(guide.split('\n').findIndex((line) => line.startsWith('| what happens |')));
  const rows = lines
    .slice(
      0,
      lines.findIndex((line) => !line.startsWith('|')),
    )
    .map(cellsOf);
  const lanes = cellsOf(head).slice(1);
  const count = (at: number, which: (cell: string) => boolean): number => rows.filter((row) => which(row[at + 1] ?? '')).length;
  return {
    situations: rows.length,
    lanes: lanes.map((lane, at) => ({
      lane,
      right: count(at, (cell) => !cell.includes('**')),
      twice: count(at, (cell) => cell.startsWith('**twice**')),
      notCharged: count(at, (cell) => cell.startsWith('**not charged**')),
      toldOtherwise: count(at, (cell) => cell.startsWith('once, **')),
    })),
  };
}

export function drawLaneCounts(root: HTMLElement): void {
  const { situations, lanes } = laneCounts(why);
  part(root, 'by-hand-title').textContent = `Of ${situations} situations in real pages`;
  part(root, 'by-hand-lanes').replaceChildren(
    ...lanes.map(({ lane, right, twice, notCharged, toldOtherwise }) =>
      element('tr', {}, [
        element('th', { scope: 'row' }, [lane]),
        ...[right, twice].map((n) => element('td', {}, [`${n}`])),
        ...[notCharged, toldOtherwise].map((n) => element('td', { class: 'spare' }, [`${n}`])),
      ]),
    ),
  );
}
