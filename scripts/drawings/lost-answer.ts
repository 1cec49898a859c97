/** A lost answer, twice: with plain fetch, and with oncefetch. */
import { arrow, box, cross, type Drawing, line, lines, type Tone, text } from './svg.ts';

const PAGE = 50;
const SERVER = 320;
const LINE_END = 380;

/** One lane of the drawing, which begins at `x`. */
class Lane {
  readonly parts: string[] = [];
  readonly #x: number;

  constructor(x: number, name: string) {
    this.#x = x;
    this.parts.push(text(x + 10, 32, name, { look: 'title' }));
    for (const [at, who] of [
      [PAGE, 'page'],
      [SERVER, 'server'],
    ] as const) {
      this.parts.push(
        text(x + at, 62, who, { look: 'strong', anchor: 'middle' }),
        line(
          [
            [x + at, 72],
            [x + at, LINE_END],
          ],
          'faint',
        ),
      );
    }
  }

  request(y: number, words: string): this {
    this.parts.push(arrow([this.#x + PAGE, y], [this.#x + SERVER - 2, y]), text(this.#x + PAGE + 10, y - 8, words));
    return this;
  }

  answer(y: number, words: string): this {
    this.parts.push(arrow([this.#x + SERVER, y], [this.#x + PAGE + 2, y]), text(this.#x + SERVER - 12, y - 8, words, { anchor: 'end' }));
    return this;
  }

  lost(y: number): this {
    const end = this.#x + 208;
    this.parts.push(
      line([
        [this.#x + SERVER, y],
        [end + 8, y],
      ]),
      cross(end, y),
      text(this.#x + PAGE + 10, y + 5, 'the answer is lost'),
    );
    return this;
  }

  server(y: number, words: string, look: Tone | '' = ''): this {
    this.parts.push(text(this.#x + SERVER - 12, y, words, { look: `strong${look && ` ${look}`}`, anchor: 'end' }));
    return this;
  }

  page(y: number, words: string): this {
    this.parts.push(text(this.#x + PAGE + 10, y, words, { look: 'strong' }));
    return this;
  }

  end(words: readonly string[], tone: Tone): this {
    this.parts.push(box(this.#x + 10, 396, 350, 62, tone), lines(this.#x + 24, 422, words, { look: `strong ${tone}` }));
    return this;
  }
}

const without = new Lane(0, 'Without oncefetch')
  .request(132, 'POST /payments')
  .server(158, 'charge 1', 'good')
  .lost(186)
  .page(222, '“That did not work.” Pay again.')
  .request(262, 'POST /payments')
  .server(288, 'charge 2', 'bad')
  .answer(326, '201')
  .page(356, '“Paid.”')
  .end(['Charged twice.', 'Told “paid”, which is half of the truth.'], 'bad');

const withOnce = new Lane(380, 'With oncefetch')
  .page(98, 'makes a key K, and stores it')
  .request(132, 'POST /payments, key K')
  .server(158, 'charge 1', 'good')
  .lost(186)
  .page(222, 'waits a moment')
  .request(262, 'POST /payments, key K')
  .server(288, 'knows K: repeats its answer', 'good')
  .answer(326, '201, a replay')
  .page(356, '“Paid.”')
  .end(['Charged once.', 'Told “paid”: the outcome is done.'], 'good');

export const lostAnswer: Drawing = {
  title: 'A lost answer, without and with oncefetch',
  description:
    'Without oncefetch: the page sends a payment, the server charges, the answer is lost. The page says that it did not work, the customer pays again, and the server charges a second time. With oncefetch: the page makes a key and stores it, and sends the payment with the key. The server charges, the answer is lost. The page sends the payment again with the same key; the server knows the key and repeats its answer. The customer is charged once and is told paid.',
  width: 760,
  height: 476,
  parts: [
    ...without.parts,
    line([
      [380, 16],
      [380, 460],
    ]),
    ...withOnce.parts,
  ],
};
