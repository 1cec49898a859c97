/** The small part of SVG that the drawings need: boxes, text and arrows, in colours that follow the reader's light or dark theme. */

const STYLE = `
  svg { --ground: #ffffff; --box: #f3f3f0; --line: #6b6b75; --text: #1c1c22; --muted: #55555f; --good: #0f6b3a; --bad: #b3261e; --doubt: #7a5200 }
  @media (prefers-color-scheme: dark) {
    svg { --ground: #121317; --box: #22242a; --line: #9a9ba5; --text: #ececf0; --muted: #b3b4bd; --good: #6fd49b; --bad: #ff9c94; --doubt: #f2c14e }
  }
  text { font: 14px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif; fill: var(--text) }
  .title { font-size: 16px; font-weight: 600 }
  .small { font-size: 13px; fill: var(--muted) }
  .word { font: 600 14px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace }
  .strong { font-weight: 600 }
  .good { fill: var(--good) } .bad { fill: var(--bad) } .doubt { fill: var(--doubt) }
  .ground { fill: var(--ground) }
  .box { fill: var(--box); stroke: var(--line) }
  .box.good { fill: var(--box); stroke: var(--good); stroke-width: 2 }
  .box.bad { fill: var(--box); stroke: var(--bad); stroke-width: 2 }
  .box.doubt { fill: var(--box); stroke: var(--doubt); stroke-width: 2 }
  .line { fill: none; stroke: var(--line); stroke-width: 1.5 }
  .line.faint { stroke-dasharray: 3 4 }
  .line.bad { fill: none; stroke: var(--bad); stroke-width: 2 }
  .tip { fill: var(--line) }
`;

export type Tone = 'good' | 'bad' | 'doubt';

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

export interface TextOptions {
  readonly look?: string;
  readonly anchor?: 'start' | 'middle' | 'end';
}

export const text = (x: number, y: number, words: string, { look = '', anchor = 'start' }: TextOptions = {}): string =>
  `<text x="${x}" y="${y}" text-anchor="${anchor}"${look && ` class="${look}"`}>${escaped(words)}</text>`;

/** Lines of text, one below the other. */
export const lines = (x: number, y: number, all: readonly string[], options: TextOptions = {}): string =>
  all.map((words, nth) => text(x, y + 18 * nth, words, options)).join('\n');

export const box = (x: number, y: number, width: number, height: number, tone: Tone | '' = ''): string =>
  `<rect class="box${tone && ` ${tone}`}" x="${x}" y="${y}" width="${width}" height="${height}" rx="8"/>`;

export type Point = readonly [x: number, y: number];

const pathOf = (points: readonly Point[]): string => points.map(([x, y], nth) => `${nth === 0 ? 'M' : 'L'}${x} ${y}`).join(' ');

export const line = (points: readonly Point[], look = ''): string => `<path class="line${look && ` ${look}`}" d="${pathOf(points)}"/>`;

export const arrow = (...points: readonly Point[]): string => `<path class="line" d="${pathOf(points)}" marker-end="url(#tip)"/>`;

export const cross = (x: number, y: number): string =>
  `<path class="line bad" d="M${x - 6} ${y - 6} L${x + 6} ${y + 6} M${x + 6} ${y - 6} L${x - 6} ${y + 6}"/>`;

export interface Drawing {
  readonly title: string;
  /** The description for people who cannot see the drawing. */
  readonly description: string;
  readonly width: number;
  readonly height: number;
  readonly parts: readonly string[];
}

export const svgOf = ({ title, description, width, height, parts }: Drawing): string => `<?xml version="1.0" encoding="UTF-8"?>
<!-- Made by \`npm run drawings\`. -->
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title desc">
<title id="title">${escaped(title)}</title>
<desc id="desc">${escaped(description)}</desc>
<style>${STYLE}</style>
<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto"><path class="tip" d="M0 0 L10 5 L0 10 z"/></marker></defs>
<rect class="ground" width="${width}" height="${height}" rx="8"/>
${parts.join('\n')}
</svg>
`;
