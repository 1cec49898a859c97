/** The view of one operation: what happens next, what can be done, its timeline, and its record. */
import { explain } from 'oncefetch';
import type { Client } from '../engine/client.js';
import type { Action } from './actions.js';
import { labelOf, pageOf, whyOf } from './reading.js';
import type { Row } from './rows.js';
import type { AttemptStep, Step } from './timeline.js';
import { h, type Tree } from './tree.js';
import { duration, nextOf, outcomeOfRecord, STATUS, shortKey, time, when, whyWait } from './words.js';

/** The data of the view. */
export interface DetailView {
  readonly client: Client;
  readonly row: Row;
  readonly steps: readonly Step[];
  readonly actions: readonly Action[];
  /** The action that waits for a second click to confirm it. */
  readonly asked: Action['id'] | undefined;
  readonly now: number;
  act(action: Action): void;
  ask(id: Action['id'] | undefined): void;
  /** The developer's pointer or focus has come here: keep showing this operation. */
  stay(): void;
}

const FAULTS = { 'lose-answer': 'the panel lost its answer', offline: 'the panel played offline', slow: 'the panel slowed it down' } as const;

const WHERE = { tab: 'another tab', worker: 'a worker', page: 'another client of this page' } as const;

const line = (label: string, text: string | undefined): Tree | undefined =>
  text === undefined ? undefined : h('div', { class: 'fact' }, h('dt', {}, label), h('dd', {}, text));

function attemptView({ attempt, evidence }: AttemptStep, dialect: string, hooked: boolean): readonly (Tree | string)[] {
  if (!evidence) return [h('strong', {}, `Attempt ${attempt}`), ' left.'];
  const { what, reading, ms, faults } = evidence;
  const by = faults.length ? ` (${faults.map((fault) => FAULTS[fault]).join(', ')})` : '';
  return [
    h('strong', {}, `Attempt ${attempt}`),
    `: ${what} after ${duration(ms)}${by}. Read as `,
    h('em', {}, labelOf(reading)),
    `: ${whyOf(reading)} `,
    h('code', {}, pageOf(dialect)),
    hooked ? ' Your verdict function may have read it in another way.' : '',
  ];
}

function stepView(step: Step, { client, row }: DetailView): Tree {
  const dialect = row.record?.dialect ?? client.settings.dialect.name;
  const body = (): readonly (Tree | string)[] => {
    switch (step.is) {
      case 'attempt':
        return attemptView(step, dialect, client.settings.verdict !== undefined);
      case 'wait':
        return [`Then it waits ${whyWait(step.why)}${step.until === undefined ? '' : `: ${duration(step.until - step.at)}, until ${time(step.until)}`}.`];
      case 'diagnostic':
        return [h('strong', {}, step.code), `: ${step.message}`];
      default: {
        const { summary, steps, next, guide } = explain(step.outcome);
        return [h('strong', {}, `${step.outcome.effect}. `), `${summary} ${steps.join(' ')} ${next} `, h('code', {}, guide)];
      }
    }
  };
  return h(
    'li',
    { class: `step ${step.is}` },
    h('time', {}, time(step.at)),
    h('span', {}, step.where !== undefined && h('span', { class: 'badge' }, WHERE[step.where]), ' ', ...body().filter((part) => part !== '')),
  );
}

/** How the operation ended, from its record, for an operation whose end this page did not see. */
function endView({ row }: DetailView): Tree | undefined {
  const outcome = row.record && row.storedIn && outcomeOfRecord(row.record, row.storedIn, row.operation.length ? row.operation : undefined);
  if (!outcome || row.status === 'forgotten') return undefined;
  const { summary, guide } = explain(outcome);
  return h('p', {}, `${summary} `, h('code', {}, guide));
}

function timelineView(view: DetailView): Tree {
  const { steps, row } = view;
  const attempts = steps.filter((step) => step.is === 'attempt' && step.key === row.key) as AttemptStep[];
  const earlier = attempts[0] ? attempts[0].sentBefore : row.record?.firstSentAt !== undefined;
  return h(
    'section',
    { 'aria-labelledby': 'timeline' },
    h('h4', { id: 'timeline' }, 'Timeline'),
    earlier && h('p', {}, 'It began before this panel, or elsewhere: attempts that were made there are not stored, so they are not shown.'),
    steps.length > 0 && h('ol', { class: 'steps' }, ...steps.map((step) => stepView(step, view))),
    !steps.some(({ is }) => is === 'end') && endView(view),
  );
}

function storedView({ row, client, now }: DetailView): Tree {
  const { record, storedIn, key } = row;
  if (!record) return h('section', { 'aria-labelledby': 'stored' }, h('h4', { id: 'stored' }, 'Stored'), h('p', {}, 'Nothing is stored of it.'));
  const { carrier, random, generation, payloads, request, meta, answer } = record;
  const kept = [request && 'its request', meta !== undefined && 'meta', answer && 'its answer'].filter(Boolean).join(', ');
  return h(
    'section',
    { 'aria-labelledby': 'stored' },
    h('h4', { id: 'stored' }, 'Stored'),
    h(
      'dl',
      {},
      line('Key', `${key}, ${random ? 'random' : 'derived or given'}${generation ? `, generation ${generation}` : ''}`),
      line('Goes to', `${carrier || 'no place: the server knows no keys'} (dialect ${record.dialect})`),
      line('Where', `${storedIn} (${client.store.kind})`),
      line('Begun', when(record.createdAt, now)),
      line('First sent', record.firstSentAt === undefined ? undefined : when(record.firstSentAt, now)),
      line('May have had its effect', record.state === 'pending' ? (record.ambiguous ? 'yes' : 'no') : undefined),
      line(
        'Server remembers the key',
        // A time before the record was made means that the key was moved to another account, where it may not count.
        (record.windowEndsAt ?? 0) < record.createdAt ? undefined : `until ${new Date(record.windowEndsAt as number).toLocaleString()}`,
      ),
      line('Payloads under this key', payloads.length > 1 ? String(payloads.length) : undefined),
      line('Also kept', kept || 'nothing of the request or the answer'),
    ),
  );
}

function actionView(action: Action, { asked, act, ask }: DetailView): Tree {
  const { id, label, means, risky, refused } = action;
  const sure = asked === id;
  const said = sure ? `${means} Are you sure?` : (refused ?? means);
  return h(
    'div',
    { class: 'action', key: id },
    h(
      'button',
      {
        type: 'button',
        class: sure ? 'danger' : '',
        disabled: refused !== undefined,
        'aria-describedby': `means-${id}`,
        onclick: () => (risky && !sure ? ask(id) : act(action)),
      },
      sure ? `Yes, ${label.toLowerCase()}` : label,
    ),
    sure && h('button', { type: 'button', onclick: () => ask(undefined) }, 'Keep it'),
    h('span', { id: `means-${id}`, class: 'means' }, said),
  );
}

export function detailView(view: DetailView): Tree {
  const { row, actions, client, now, stay } = view;
  return h(
    'section',
    { class: 'detail', key: row.id, 'aria-label': `${row.name}: ${STATUS[row.status]}`, tabIndex: 0, onpointerenter: stay, onfocus: stay },
    h('h3', {}, row.name, ' ', h('span', { class: `badge ${row.status}` }, STATUS[row.status])),
    row.key !== '' && h('p', { class: 'small' }, `Key ${shortKey(row.key)}`),
    h('h4', {}, 'What happens next'),
    ...nextOf(row, client, now).map((text) => h('p', {}, text)),
    ...actions.map((action) => actionView(action, view)),
    timelineView(view),
    storedView(view),
  );
}
