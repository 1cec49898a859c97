/** The life of an operation: its phases, and the transitions between them. */
import { arrow, box, type Drawing, lines, type Tone, text } from './svg.ts';

const WIDTH = 150;
const HEIGHT = 64;
const TOP = 40;
const BELOW = 230;
const COLUMNS = [24, 305, 586] as const;

const phase = (x: number, y: number, word: string, what: string, tone: Tone | '' = ''): string =>
  [
    box(x, y, WIDTH, HEIGHT, tone),
    text(x + WIDTH / 2, y + 28, word, { look: 'word', anchor: 'middle' }),
    text(x + WIDTH / 2, y + 48, what, { look: 'small', anchor: 'middle' }),
  ].join('\n');

const [first, second, third] = COLUMNS;
const middle = TOP + HEIGHT / 2;
const label = (x: number, y: number, ...words: readonly string[]): string => lines(x, y, words, { look: 'small', anchor: 'middle' });

export const life: Drawing = {
  title: 'The life of an operation',
  description:
    'An operation begins idle. A call makes a key and stores it, and the operation is sending. Without an answer it is waiting, and then sending again with the same key. An answer that proves something settles it as done or none. If the limits are reached or the page is closed, it is unsettled: the outcome is unknown. From there a later call or resume goes on sending with the same key, and settle or reconcile settles it.',
  width: 760,
  height: 318,
  parts: [
    phase(first, TOP, 'idle', 'nothing sent yet'),
    phase(second, TOP, 'sending', 'attempt 1, 2, …'),
    phase(third, TOP, 'settled', 'done or none', 'good'),
    phase(second, BELOW, 'waiting', 'for the next attempt'),
    phase(third, BELOW, 'unsettled', 'unknown', 'doubt'),
    arrow([first + WIDTH, middle], [second, middle]),
    label((first + WIDTH + second) / 2, middle - 30, 'a key is made', 'and stored'),
    arrow([second + WIDTH, middle], [third, middle]),
    label((second + WIDTH + third) / 2, middle - 30, 'an answer', 'proves it'),
    arrow([second + 40, TOP + HEIGHT], [second + 40, BELOW]),
    lines(second + 30, 158, ['no answer,', 'or "in progress"'], { look: 'small', anchor: 'end' }),
    arrow([second + 80, BELOW], [second + 80, TOP + HEIGHT]),
    lines(second + 90, 158, ['the same', 'key again'], { look: 'small' }),
    arrow([second + WIDTH, BELOW + HEIGHT / 2], [third, BELOW + HEIGHT / 2]),
    label((second + WIDTH + third) / 2, BELOW + HEIGHT / 2 + 20, 'limits reached,', 'page closed'),
    arrow([third + 10, BELOW], [second + WIDTH, TOP + HEIGHT - 6]),
    lines(third - 18, 158, ['call again, or resume:', 'the same key'], { look: 'small' }),
    arrow([third + WIDTH - 12, BELOW], [third + WIDTH - 12, TOP + HEIGHT]),
    lines(third + WIDTH - 22, 206, ['settle, reconcile'], { look: 'small', anchor: 'end' }),
  ],
};
