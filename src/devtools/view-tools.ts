/** The head of the panel: faults to turn on, the report, and the button to close. */
import type { FaultName } from './faults.js';
import { SLOW_MS } from './faults.js';
import { h, type Tree } from './tree.js';

const FAULTS: readonly (readonly [name: FaultName, label: string, means: string])[] = [
  ['lose-answer', 'Lose the next answer', 'The next request reaches the server, and its answer gets lost.'],
  ['offline', 'Be offline', 'Nothing is sent, and the device says that it is offline.'],
  ['slow', `Be slow (${SLOW_MS / 1000} s)`, `Each request leaves ${SLOW_MS / 1000} s late.`],
];

/** The data of the head. */
export interface ToolsView {
  readonly title: string;
  readonly faults: ReadonlySet<FaultName>;
  readonly reports: boolean;
  fault(name: FaultName, on: boolean): void;
  report(): void;
  close(): void;
}

const faultView = ([name, label, means]: (typeof FAULTS)[number], view: ToolsView): Tree =>
  h(
    'label',
    { title: means, key: name },
    h('input', { type: 'checkbox', checked: view.faults.has(name), onchange: (event) => view.fault(name, (event.target as HTMLInputElement).checked) }),
    ` ${label}`,
  );

export const toolsView = (view: ToolsView): Tree =>
  h(
    'div',
    { key: 'tools', class: 'tools' },
    h('h2', {}, view.title),
    h('fieldset', {}, h('legend', {}, 'Faults of this page'), ...FAULTS.map((fault) => faultView(fault, view))),
    h('button', { type: 'button', 'aria-pressed': String(view.reports), onclick: view.report }, 'Report'),
    h('button', { type: 'button', class: 'close', 'aria-label': 'Close the panel', onclick: view.close }, '✕'),
  );

/** The data of the report view. */
export interface ReportView {
  readonly text: string;
  readonly names: boolean;
  setNames(names: boolean): void;
  copy(): void;
}

export const reportView = ({ text, names, setNames, copy }: ReportView): Tree =>
  h(
    'section',
    { class: 'detail', key: 'report', 'aria-label': 'Report' },
    h('h3', {}, 'Report'),
    h('p', {}, 'What the panel knows, for a bug report: no bodies, headers, addresses or whole keys. Read it before you send it.'),
    h(
      'label',
      {},
      h('input', { type: 'checkbox', checked: names, onchange: (event) => setNames((event.target as HTMLInputElement).checked) }),
      ' With the names of operations',
    ),
    h('p', {}, h('button', { type: 'button', onclick: copy }, 'Copy')),
    h('textarea', { readOnly: true, 'aria-label': 'Report as JSON', value: text, spellcheck: 'false' }),
  );
