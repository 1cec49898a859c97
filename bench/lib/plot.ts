/** Lines over a common axis, as an SVG that is read on light and dark pages. */
export interface Line {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT] = [760, 360, 56, 44, 16, 190];
const COLOURS = ['#0b7a75', '#c2410c', '#6d28d9', '#1d4ed8', '#0ea5e9', '#be185d', '#4d7c0f', '#64748b'];

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** Round numbers up to `most`, about five of them. */
function ticks(most: number): number[] {
  const rough = most / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? rough;
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, n) => Number((n * step).toPrecision(6)));
}

/** `title` is for those who do not see it. The last line is ours, and drawn thicker. */
export function plot(lines: readonly Line[], { title, x, y }: { readonly title: string; readonly x: string; readonly y: string }): string {
  const all = lines.flatMap(({ points }) => points);
  const [mostX, mostY] = [Math.max(...all.map(([at]) => at)), Math.max(...all.map(([, value]) => value))];
  const toX = (at: number): string => (LEFT + (at / mostX) * (WIDTH - LEFT - RIGHT)).toFixed(1);
  const toY = (value: number): string => (HEIGHT - BOTTOM - (value / mostY) * (HEIGHT - BOTTOM - TOP)).toFixed(1);
  const text = (at: string, more: string, says: string): string => `<text ${at} ${more} font-size="12" fill="#64748b">${escaped(says)}</text>`;
  const right = WIDTH - RIGHT;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="system-ui, sans-serif" role="img"><title>${escaped(title)}</title>`,
    ...ticks(mostY).flatMap((value) => [
      `<line x1="${LEFT}" x2="${right}" y1="${toY(value)}" y2="${toY(value)}" stroke="#94a3b8" stroke-opacity="0.3"/>`,
      text(`x="${LEFT - 8}" y="${toY(value)}"`, 'text-anchor="end" dy="4"', String(value)),
    ]),
    ...ticks(mostX).map((at) => text(`x="${toX(at)}" y="${HEIGHT - BOTTOM + 18}"`, 'text-anchor="middle"', String(at))),
    text(`x="${(LEFT + right) / 2}" y="${HEIGHT - 6}"`, 'text-anchor="middle"', x),
    text(`x="14" y="${HEIGHT / 2}"`, `text-anchor="middle" transform="rotate(-90 14 ${HEIGHT / 2})"`, y),
    ...lines.flatMap(({ name, points }, n) => {
      const [colour, ours] = [COLOURS[(lines.length - 1 - n) % COLOURS.length], n === lines.length - 1];
      return [
        `<polyline fill="none" stroke="${colour}" stroke-width="${ours ? 3 : 1.5}" points="${points.map(([at, value]) => `${toX(at)},${toY(value)}`).join(' ')}"/>`,
        `<rect x="${right + 16}" y="${TOP + 18 * n}" width="14" height="4" fill="${colour}"/>`,
        text(`x="${right + 36}" y="${TOP + 18 * n + 6}"`, ours ? 'font-weight="bold"' : '', name),
      ];
    }),
    '</svg>\n',
  ].join('\n');
}
