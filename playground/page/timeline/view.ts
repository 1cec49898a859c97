/** Draws a lane's entries as a list, each with its bar on an axis that both lanes share. */
import { element } from '../dom.ts';
import { type Layout, layOut, type Row } from './layout.ts';
import { type Entry, recorder } from './recorder.ts';

const AXIS_MS_MIN = 1500;
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

export interface Drawn {
  readonly lane: Entry['lane'];
  readonly list: HTMLElement;
  /** The number of charges of the cart. If it is higher than the number of attempts, a browser or proxy has sent copies. */
  readonly charges: number;
}

/** Draws all lanes. Returns whether any entry is unfinished. */
export function drawTimelines(lanes: readonly Drawn[], cart: string, now = Date.now()): boolean {
  const own = recorder.entries.filter((entry) => entry.cart === cart);
  const layouts = lanes.map(({ lane }) =>
    layOut(
      own.filter((entry) => entry.lane === lane),
      now,
    ),
  );
  const axis = Math.max(AXIS_MS_MIN, ...layouts.map(({ endMs }) => endMs));
  lanes.forEach((drawn, index) => {
    draw(drawn, layouts[index] as Layout, axis);
  });
  return own.some(({ to }) => to === null);
}

function draw({ list, charges }: Drawn, { rows }: Layout, axis: number): void {
  const items = rows.flatMap((row) => [...(row.pause > 0 ? [note(`${seconds(row.pause)} later`, 'quiet')] : []), rowOf(row, axis)]);
  const attempts = rows.filter(({ number }) => number !== undefined);
  const settled = attempts.every(({ entry }) => entry.to !== null);
  if (settled && attempts.length > 0 && charges > attempts.length)
    items.push(
      note(
        `${charges} charges from ${attempts.length === 1 ? 'one attempt' : `${attempts.length} attempts`}: it was copied on its way. Browsers and proxies do that.`,
        'bad',
      ),
    );
  if (items.length === 0) items.push(element('li', { class: 'none' }, ['Nothing was sent yet.']));
  const html = items.map((item) => item.outerHTML).join('');
  // Redraws only after a change, because a screen reader would lose its place in the list.
  if (list.dataset['drawn'] === html) return;
  list.dataset['drawn'] = html;
  list.replaceChildren(...items);
}

const note = (says: string, tone: Entry['tone']): HTMLElement =>
  element('li', { class: 'note', 'data-tone': tone }, [element('span', { class: 'says' }, [says])]);

function rowOf({ entry, number, from, to }: Row, axis: number): HTMLElement {
  const { kind, says, tone } = entry;
  const elsewhere = entry.tab === recorder.tab ? '' : ', other tab';
  const what = number === undefined ? elsewhere && 'Other tab' : `Attempt ${number}${elsewhere}`;
  const parts = [element('span', { class: 'says' }, [[what, says].filter(Boolean).join(': ')])];
  if (entry.key !== undefined) parts.push(element('code', {}, [` ${entry.key} `]));
  if (kind === 'attempt' || kind === 'wait') {
    parts.push(element('span', { class: 'when' }, [' ', entry.to === null ? 'now' : seconds(to - from)]));
    const at = `--from: ${((100 * from) / axis).toFixed(1)}%; --length: ${((100 * (to - from)) / axis).toFixed(1)}%`;
    parts.push(element('span', { class: 'track', 'aria-hidden': 'true' }, [element('span', { class: 'bar', style: at }, [])]));
  }
  const item = element('li', { class: kind, 'data-tone': tone }, parts);
  if (entry.to === null) item.dataset['open'] = '';
  return item;
}
