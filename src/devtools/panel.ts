/** The panel in the page: an element with a shadow root that shows the model's data and does what the developer asks for. */
import type { Once } from 'oncefetch';
import { type Action, actionsOf, errorSays } from './actions.js';
import { Model } from './model.js';
import { reportOf } from './report.js';
import { type Row, stampOf } from './rows.js';
import { dress } from './style.js';
import { h, sync, type Tree } from './tree.js';
import { detailView } from './view-detail.js';
import { currentOf, listView } from './view-list.js';
import { reportView, toolsView } from './view-tools.js';

/** How often countdowns are updated while the panel is open, ms. */
const TICK_MS = 1000;
/**
 * Events are shown after this delay, ms, so that many in a row are shown once; what the developer does is shown at once. Not by animation
 * frames, which a page in the background does not get.
 */
const SHOW_AFTER_MS = 100;

/** The initial state of a panel. */
export interface Beginning {
  readonly open: boolean;
  readonly mount: Element;
  readonly label: string | undefined;
}

export class Panel {
  readonly #once: Once;
  readonly #model: Model;
  readonly #host: HTMLElement;
  readonly #shadow: ShadowRoot;
  /** The element that contains the view. */
  readonly #room: HTMLElement;
  readonly #title: string;
  #open: boolean;
  #selected: string | undefined;
  #filter = '';
  /** The action that waits for a second click, and what that was asked about: no other operation is meant by the click. */
  #asked: { readonly id: Action['id']; readonly about: string } | undefined;
  #reports = false;
  #names = false;
  #said = '';
  #showing: ReturnType<typeof setTimeout> | undefined;
  #tick: ReturnType<typeof setInterval> | undefined;

  constructor(once: Once, { open, mount, label }: Beginning) {
    this.#once = once;
    this.#open = open;
    this.#title = label === undefined ? 'oncefetch' : `oncefetch: ${label}`;
    this.#model = new Model(once, () => this.#soon());
    const page = mount.ownerDocument;
    // Not defined as a custom element, because two copies of the package could not both define it. Its name alone allows a shadow root.
    this.#host = page.createElement('oncefetch-devtools');
    this.#shadow = this.#host.attachShadow({ mode: 'open' });
    dress(this.#shadow);
    this.#room = this.#shadow.appendChild(page.createElement('div'));
    // Place the button beside those of other clients.
    this.#host.style.setProperty('--place', String(page.querySelectorAll('oncefetch-devtools').length));
    mount.append(this.#host);
    this.#setOpen(open);
    this.#show();
  }

  end(): void {
    clearTimeout(this.#showing);
    clearInterval(this.#tick);
    this.#model.end();
    this.#host.remove();
  }

  readonly #soon = (): void => {
    this.#showing ??= setTimeout(() => {
      this.#showing = undefined;
      this.#show();
    }, SHOW_AFTER_MS);
  };

  #change(change: () => void): void {
    change();
    this.#show();
  }

  #setOpen(open: boolean): void {
    this.#open = open;
    this.#model.looked = open;
    clearInterval(this.#tick);
    if (open) this.#tick = setInterval(this.#soon, TICK_MS);
  }

  #toggle(open: boolean): void {
    this.#change(() => this.#setOpen(open));
    const find = (selector: string) => this.#shadow.querySelector<HTMLElement>(selector);
    (open ? (find('[role=option][tabindex="0"]') ?? find('.close')) : find('.toggle'))?.focus();
  }

  #select(id: string): void {
    this.#change(() => {
      this.#selected = id;
      this.#asked = undefined;
      this.#reports = false;
    });
  }

  async #act(action: Action, row: Row): Promise<void> {
    this.#change(() => {
      this.#asked = undefined;
      this.#said = `${action.label}…`;
    });
    const run = async () => ((await this.#model.isStill(row)) ? action.run(this.#once) : `${action.label}: this has changed meanwhile. Look again.`);
    const said = await run().catch((error: unknown) => `${action.label}: ${errorSays(error)}`);
    this.#change(() => {
      this.#said = said;
    });
  }

  async #copy(text: string): Promise<void> {
    // If the page has no permission to copy, select the text, so that the developer can copy it.
    const copied = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    );
    if (!copied) this.#shadow.querySelector('textarea')?.select();
    this.#change(() => {
      this.#said = copied ? 'The report is in the clipboard.' : 'The browser refuses to copy. The report is selected: copy it by hand.';
    });
  }

  #show(): void {
    const { activeElement } = this.#shadow;
    sync(this.#room, this.#open ? [this.#opened()] : [this.#button()]);
    const lost = !activeElement?.isConnected || activeElement.matches(':disabled');
    if (!activeElement || (!lost && this.#shadow.activeElement === activeElement)) return;
    // Moving an element takes its focus away: give it back. If the focused button is gone, focus the detail view.
    const next = !lost ? activeElement : this.#shadow.querySelector('.detail');
    (next as HTMLElement | null)?.focus({ preventScroll: true });
  }

  #button(): Tree {
    const rows = this.#model.rows;
    const count = (statuses: readonly Row['status'][]): number => rows.filter(({ status }) => statuses.includes(status)).length;
    const busy = count(['sending', 'waiting', 'elsewhere']);
    const unsettled = count(['unsettled']);
    const faulty = this.#model.faults.on.size > 0;
    const words = [busy > 0 && `${busy} under way`, unsettled > 0 && `${unsettled} unsettled`, faulty && 'faults on'].filter(Boolean).join(', ');
    const text = words === '' ? this.#title : `${this.#title}: ${words}`;
    return h(
      'button',
      {
        type: 'button',
        key: 'toggle',
        class: `toggle${faulty ? ' faulty' : ''}`,
        'aria-expanded': 'false',
        'aria-haspopup': 'dialog',
        onclick: () => this.#toggle(true),
      },
      text,
    );
  }

  #note(): string | undefined {
    const { trouble, stored, client } = this.#model;
    if (trouble !== undefined) return trouble;
    if (client.closing.aborted) return 'The client is closed.';
    if (stored.namespace === undefined) return 'Nobody is logged in, so there is nothing to show.';
    const notes = [stored.damaged > 0 && `${stored.damaged} stored records are damaged.`, stored.more && 'There are more than were read.'];
    return notes.filter(Boolean).join(' ') || undefined;
  }

  #opened(): Tree {
    const { client, faults, timeline, stored } = this.#model;
    const rows = this.#model.rows;
    const row = currentOf(rows, this.#selected);
    const tools = toolsView({
      title: this.#title,
      faults: faults.on,
      reports: this.#reports,
      fault: (name, on) => this.#change(() => faults.set(name, on)),
      report: () => this.#change(() => (this.#reports = !this.#reports)),
      close: () => this.#toggle(false),
    });
    const list = listView({
      rows,
      selected: this.#selected ?? row?.id,
      filter: this.#filter,
      note: this.#note(),
      select: (id) => this.#select(id),
      search: (text) => this.#change(() => (this.#filter = text)),
    });
    const closes = (event: Event): void => {
      if ((event as KeyboardEvent).key !== 'Escape') return;
      event.stopPropagation();
      if (this.#asked) this.#change(() => (this.#asked = undefined));
      else this.#toggle(false);
    };
    const text = this.#reports ? reportOf(client, stored, rows, timeline, this.#names) : '';
    const detail = this.#reports
      ? reportView({ text, names: this.#names, setNames: (names) => this.#change(() => (this.#names = names)), copy: () => void this.#copy(text) })
      : row && this.#detail(row);
    return h(
      'section',
      { class: 'panel', key: 'panel', role: 'dialog', 'aria-label': `${this.#title} devtools`, onkeydown: closes },
      tools,
      list,
      detail ??
        h('section', { class: 'detail', key: 'none', 'aria-label': 'No operation' }, h('p', {}, 'An operation appears here as soon as your page sends one.')),
      h('div', { class: 'said', role: 'status', key: 'said' }, this.#said),
    );
  }

  #detail(row: Row): Tree {
    const { client, timeline } = this.#model;
    const about = stampOf(row.id, row.record);
    return detailView({
      client,
      row,
      steps: timeline.of(row.track),
      actions: actionsOf(row, this.#model.sends(row)),
      asked: this.#asked?.about === about ? this.#asked.id : undefined,
      now: client.platform.clock.now(),
      act: (action) => void this.#act(action, row),
      ask: (id) => this.#change(() => (this.#asked = id && { id, about })),
      // Otherwise a newer operation could take the place of this one just before a click on a button, which would then act on the newer one.
      stay: () => {
        if (this.#selected !== row.id) this.#select(row.id);
      },
    });
  }
}
