/** The result of the comparison as text. */

export interface Line {
  readonly lane: string;
  readonly fault: string;
  readonly wanted: number;
  readonly made: number;
  readonly duplicates: number;
  readonly lost: number;
  readonly untrue: number;
  /** Customers who were charged more than once. */
  readonly harmedTwice: number;
  readonly medianMs: number;
}

export const sum = (numbers: readonly number[]): number => numbers.reduce((total, next) => total + next, 0);

export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}

/** Counts customers who came to harm. The number of charges does not show harm, because a double charge makes up for a missing one. */
export function headline(lines: readonly Line[], lanes: readonly string[]): string {
  const width = Math.max(...lanes.map((lane) => lane.length));
  return lanes
    .map((lane) => {
      const own = lines.filter((line) => line.lane === lane);
      const of = (count: (line: Line) => number): number => sum(own.map(count));
      const harm = `${of(({ harmedTwice }) => harmedTwice)} charged twice, ${of(({ lost }) => lost)} not charged, ${of(({ untrue }) => untrue)} told something untrue`;
      return `${lane.padEnd(width)}  ${of(({ wanted }) => wanted)} customers: ${harm}`;
    })
    .join('\n');
}

const HEAD = ['lane', 'fault', 'wanted', 'made', 'duplicates', 'lost', 'untrue', 'median ms'];

/** The lines grouped by lane, with a total under each group. The median of a total is the median of its lines' medians. */
export function render(lines: readonly Line[], lanes: readonly string[]): string {
  const rows: (readonly string[] | '-')[] = [HEAD];
  for (const lane of lanes) {
    const own = lines.filter((line) => line.lane === lane);
    const total = (count: (line: Line) => number) => sum(own.map(count));
    rows.push('-', ...own.map(cells), [
      lane,
      'TOTAL',
      ...[
        ({ wanted }: Line) => wanted,
        ({ made }: Line) => made,
        ({ duplicates }: Line) => duplicates,
        ({ lost }: Line) => lost,
        ({ untrue }: Line) => untrue,
      ].map((count) => String(total(count))),
      median(own.map(({ medianMs }) => medianMs)).toFixed(0),
    ]);
  }
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => (row === '-' ? 0 : (row[column] ?? '').length))));
  return rows
    .map((row) =>
      (row === '-'
        ? widths.map((width) => '-'.repeat(width))
        : row.map((cell, column) => (column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      ).join('  '),
    )
    .join('\n');
}

const cells = ({ lane, fault, wanted, made, duplicates, lost, untrue, medianMs }: Line): readonly string[] => [
  lane,
  fault,
  ...[wanted, made, duplicates, lost, untrue].map(String),
  medianMs.toFixed(0),
];
