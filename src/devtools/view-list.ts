/** The list of operations. The Tab key stops at it once; arrow keys move within it. */
import { GROUPS, type Row } from './rows.js';
import { h, type Tree } from './tree.js';
import { MARK, STATUS, shortKey, time } from './words.js';

/** The most rows that are shown under each heading. */
const SHOWN_MAX = 100;

/** The data of the list. */
export interface ListView {
  readonly rows: readonly Row[];
  readonly selected: string | undefined;
  readonly filter: string;
  readonly note: string | undefined;
  select(id: string): void;
  search(text: string): void;
}

interface Group {
  readonly heading: string;
  readonly all: number;
  readonly shown: readonly Row[];
}

const groupsOf = ({ rows, filter }: ListView): readonly Group[] =>
  GROUPS.map(([heading, statuses]) => {
    const all = rows.filter(({ status, name, key }) => statuses.includes(status) && (name.includes(filter) || (filter !== '' && key.startsWith(filter))));
    return { heading, all: all.length, shown: all.slice(0, SHOWN_MAX) };
  }).filter(({ all }) => all > 0);

/** The row that the keyboard is at: the selected one, or else the first. */
export const currentOf = (shown: readonly Row[], selected: string | undefined): Row | undefined => shown.find(({ id }) => id === selected) ?? shown[0];

/** The row to which a key leads from row `at` of `count`; `undefined` if the key does not move. */
function stepTo(key: string, at: number, count: number): number | undefined {
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: count - 1 }[key];
  return to === undefined ? undefined : Math.min(Math.max(to, 0), count - 1);
}

function option(row: Row, chosen: boolean, reachable: boolean, view: ListView): Tree {
  const { id, name, status, key, at } = row;
  return h(
    'li',
    {
      key: id,
      role: 'option',
      class: `row ${status}`,
      'aria-selected': String(chosen),
      tabIndex: reachable ? 0 : -1,
      'data-id': id,
      onclick: () => view.select(id),
    },
    h('span', { class: 'mark', 'aria-hidden': 'true' }, MARK[status]),
    h('span', { class: 'name' }, name),
    h('span', { class: 'status' }, STATUS[status]),
    h('span', { class: 'small' }, [shortKey(key), time(at)].filter(Boolean).join(' · ')),
  );
}

/** Arrow keys select another row and move the focus to it. */
function onKey(event: Event, shown: readonly Row[], view: ListView): void {
  const current = currentOf(shown, view.selected);
  const to = stepTo((event as KeyboardEvent).key, current ? shown.indexOf(current) : 0, shown.length);
  const row = to === undefined ? undefined : shown[to];
  const list = event.currentTarget as HTMLElement;
  const chooses = [' ', 'Enter'].includes((event as KeyboardEvent).key);
  if (!row && !chooses) return;
  event.preventDefault();
  if (chooses && current) view.select(current.id);
  if (!row) return;
  view.select(row.id);
  for (const one of list.querySelectorAll<HTMLElement>('[role=option]')) if (one.dataset['id'] === row.id) one.focus();
}

export function listView(view: ListView): Tree {
  const groups = groupsOf(view);
  const shown = groups.flatMap((group) => group.shown);
  const current = currentOf(shown, view.selected);
  const options = (rows: readonly Row[]): Tree[] => rows.map((row) => option(row, row.id === view.selected, row === current, view));
  const left = (all: number, count: number): string => (all > count ? `, the latest ${count} of ${all}` : ` ${all}`);
  const search = h('input', {
    type: 'search',
    placeholder: 'Name or key begins…',
    'aria-label': 'Find operations',
    value: view.filter,
    oninput: (event) => view.search((event.target as HTMLInputElement).value),
  });
  if (!shown.length) return h('div', { class: 'list' }, search, h('p', { class: 'empty' }, view.note ?? (view.filter ? 'Nothing matches.' : 'Nothing yet.')));
  return h(
    'div',
    { class: 'list' },
    search,
    view.note && h('p', { class: 'empty' }, view.note),
    h(
      'div',
      { role: 'listbox', 'aria-label': 'Operations', onkeydown: (event) => onKey(event, shown, view) },
      ...groups.map(({ heading, all, shown }, n) =>
        h(
          'ul',
          { key: heading, role: 'group', 'aria-labelledby': `group-${n}` },
          h('li', { role: 'presentation', class: 'heading', id: `group-${n}` }, `${heading}${left(all, shown.length)}`),
          ...options(shown),
        ),
      ),
    ),
  );
}
