/** The live ledger, from the database of the shop. */
import { euros } from './cart.ts';
import { element, part, say } from './dom.ts';
import { type ArmedFault, type Charge, LANES, type Ledger, readFaults, readLedger } from './shop.ts';

const BUSY_MS = 300;
const IDLE_MS = 1500;

export interface News {
  readonly ledger: Ledger;
  readonly armed: readonly ArmedFault[];
  readonly up: boolean;
}

/** Polls the ledger, more often while `busy`. Returns a function that polls at once. */
export function watchLedger(busy: () => boolean, heard: (news: News) => void): () => void {
  let news: News = { ledger: { lanes: [], carts: [], rows: [] }, armed: [], up: true };
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asking = false;
  const ask = async (): Promise<void> => {
    clearTimeout(timer);
    if (asking) return;
    asking = true;
    try {
      const [{ lanes, carts, rows }, armed] = await Promise.all([readLedger(), readFaults()]);
      // Other pages of the shop charge in other lanes.
      news = { ledger: { lanes, carts, rows: rows.filter(({ lane }) => LANES.some((own) => own === lane)) }, armed, up: true };
    } catch {
      news = { ...news, up: false };
    }
    asking = false;
    heard(news);
    timer = setTimeout(() => void ask(), busy() || !news.up ? BUSY_MS : IDLE_MS);
  };
  document.addEventListener('visibilitychange', () => void ask());
  void ask();
  return () => void ask();
}

const COUNTS = ['wanted', 'made', 'duplicates', 'lost'] as const;

export function drawLedger(root: HTMLElement, { ledger, up }: News): void {
  say(part(root, 'server'), up ? '' : 'The server is down. It is being started again.');
  const counts = part(root, 'counts');
  const rows = part(root, 'rows');
  part(root, 'rows-table').hidden = ledger.rows.length === 0;
  part(root, 'no-rows').hidden = ledger.rows.length > 0;
  replaceIfNew(
    counts,
    LANES.map((lane) => {
      const found = ledger.lanes.find((one) => one.lane === lane);
      return element('tr', {}, [element('th', { scope: 'row' }, [lane]), ...COUNTS.map((name) => count(name, found?.[name] ?? 0))]);
    }),
  );
  replaceIfNew(rows, ledger.rows.map(rowOf));
}

function count(name: (typeof COUNTS)[number], value: number): HTMLElement {
  const trouble = value > 0 && (name === 'duplicates' || name === 'lost');
  return element('td', { 'data-count': name }, [trouble ? troubled(value) : `${value}`]);
}

/** Bold, framed and with a sign, because colour alone must not carry a meaning. */
export const troubled = (value: number): HTMLElement => element('strong', { class: 'trouble' }, [`${value}`]);

const TIME = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false });

function rowOf({ id, lane, cart, amount, key, at, nth }: Charge): HTMLElement {
  const again = nth > 1;
  return element('tr', again ? { class: 'duplicate' } : {}, [
    element('td', {}, [`${id}`]),
    element('td', {}, [lane]),
    element('td', { class: 'spare' }, [cart]),
    element('td', {}, [euros(amount)]),
    element('td', { class: 'spare' }, [key === null ? 'none' : `…${key.slice(-4)}`]),
    element('td', { class: 'spare' }, [TIME.format(at)]),
    element('td', {}, [again ? element('strong', { class: 'trouble' }, ['duplicate']) : 'its charge']),
  ]);
}

export function replaceIfNew(target: HTMLElement, children: readonly HTMLElement[]): void {
  const html = children.map((child) => child.outerHTML).join('');
  if (target.innerHTML !== html) target.replaceChildren(...children);
}
