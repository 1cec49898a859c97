/** Which outcome a caller gets: five questions, one below the other, and where each answer leads. */
import { arrow, box, type Drawing, type Tone, text } from './svg.ts';

interface Question {
  readonly asks: string;
  readonly more: string;
  /** The answer that leads to `end`. The other answer leads to the next question. */
  readonly on: 'yes' | 'no';
  readonly end: End;
}

interface End {
  readonly effect: 'done' | 'none' | 'unknown';
  readonly types: readonly string[];
  readonly because: string;
}

const QUESTIONS: readonly Question[] = [
  {
    asks: 'Is this name done already?',
    more: 'the store remembers',
    on: 'yes',
    end: { effect: 'done', types: ['replayed'], because: 'nothing is sent again' },
  },
  {
    asks: 'Did anything leave?',
    more: 'in this call, or before it',
    on: 'no',
    end: { effect: 'none', types: ['unsent'], because: 'and nothing will be sent later' },
  },
  {
    asks: 'Did an answer prove anything?',
    more: 'not a timeout, a 5xx, a login page',
    on: 'no',
    end: { effect: 'unknown', types: ['unknown'], because: 'no proof within the limits' },
  },
  {
    asks: 'Does it say that it is done?',
    more: 'a 2xx, or a replay of one',
    on: 'yes',
    end: { effect: 'done', types: ['fresh', 'replayed'], because: 'by this attempt, or an earlier one' },
  },
  {
    asks: 'Was every attempt refused?',
    more: 'by the application, and none lost',
    on: 'yes',
    end: { effect: 'none', types: ['rejected'], because: 'the form can be corrected' },
  },
];
const LAST: End = { effect: 'unknown', types: ['unknown'], because: 'a lost attempt may have done it' };
const TONES: Readonly<Record<End['effect'], Tone | ''>> = { done: 'good', none: '', unknown: 'doubt' };

const STEP = 88;
const LEFT = 12;
const ASKS_WIDTH = 268;
const RIGHT = 334;
const ENDS_WIDTH = 254;
const HEIGHT = 58;

function endAt(y: number, { effect, types, because }: End): string {
  const word = [effect, types.filter((type) => type !== effect).join(', ')].filter(Boolean).join('  ·  ');
  return [
    box(RIGHT, y, ENDS_WIDTH, HEIGHT, TONES[effect]),
    text(RIGHT + 12, y + 25, word, { look: `word ${TONES[effect]}`.trim() }),
    text(RIGHT + 12, y + 45, because, { look: 'small' }),
  ].join('\n');
}

function questionAt({ asks, more, on, end }: Question, nth: number): readonly string[] {
  const y = 20 + nth * STEP;
  const middle = y + HEIGHT / 2;
  const onward = on === 'yes' ? 'no' : 'yes';
  return [
    box(LEFT, y, ASKS_WIDTH, HEIGHT),
    text(LEFT + 12, y + 25, asks, { look: 'strong' }),
    text(LEFT + 12, y + 45, more, { look: 'small' }),
    arrow([LEFT + ASKS_WIDTH, middle], [RIGHT, middle]),
    text((LEFT + ASKS_WIDTH + RIGHT) / 2, middle - 8, on, { anchor: 'middle' }),
    endAt(y, end),
    arrow([LEFT + 60, y + HEIGHT], [LEFT + 60, y + STEP]),
    text(LEFT + 72, y + HEIGHT + 22, onward),
  ];
}

/** The end of the last answer is below the other ends. */
const lastY = 20 + QUESTIONS.length * STEP;

export const outcomeTree: Drawing = {
  title: 'Which outcome am I told?',
  description: `Five questions in turn. ${QUESTIONS.map(({ asks, on, end }) => `${asks} If ${on}: ${end.effect}, ${end.types.join(' or ')}.`).join(' ')} If not: ${LAST.effect}, because ${LAST.because}.`,
  width: RIGHT + ENDS_WIDTH + LEFT,
  height: lastY + HEIGHT + 20,
  parts: [
    ...QUESTIONS.slice(0, -1).flatMap(questionAt),
    ...questionAt(QUESTIONS[QUESTIONS.length - 1] as Question, QUESTIONS.length - 1).slice(0, -2),
    arrow([LEFT + 60, lastY - STEP + HEIGHT], [LEFT + 60, lastY + HEIGHT / 2], [RIGHT, lastY + HEIGHT / 2]),
    text(LEFT + 72, lastY - STEP + HEIGHT + 22, 'no'),
    endAt(lastY, LAST),
  ],
};
