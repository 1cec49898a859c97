/** The fault panel: what goes wrong with the next requests of both lanes. */
import { element, part, say } from './dom.ts';
import { type ArmedFault, arm, type LaneName } from './shop.ts';

interface Fault {
  readonly title: string;
  /** What the fault does, in one line. */
  readonly does: string;
  /** What happens to a request that meets the fault. */
  readonly met: string;
}

const NONE = 'none';

/** The faults by their names on the server. */
const FAULTS: Readonly<Record<string, Fault>> = {
  [NONE]: { title: 'Nothing', does: 'The network works.', met: '' },
  'lose-response': { title: 'Lose the response', does: 'The shop charges; its answer never arrives.', met: 'loses its response' },
  delay: { title: 'Delay', does: 'The shop charges; its answer comes too late.', met: 'is answered too late' },
  unavailable: { title: '503', does: 'The shop is too busy, and charges nothing.', met: 'gets a 503, uncharged' },
  'unavailable-after-commit': { title: '503 after charging', does: 'The shop charges; a gateway answers 503.', met: 'is charged, and gets a 503' },
  'lose-request': { title: 'Drop the connection', does: 'The request never reaches the shop.', met: 'never arrives' },
  truncate: { title: 'Truncate', does: 'The shop charges; half of its answer arrives.', met: 'gets half an answer' },
  duplicate: { title: 'Duplicate', does: 'The request arrives twice, at the same time.', met: 'arrives twice' },
  unauthorized: { title: 'Refuse once (401)', does: 'The log-in says no; nothing is charged.', met: 'is refused with a 401' },
  kill: { title: 'Kill the server mid-charge', does: 'Its process dies before the charge is made.', met: 'kills the server before the charge' },
  'kill-after-commit': { title: 'Kill it after charging', does: 'Its process dies before it can answer.', met: 'kills the server after the charge' },
};

/** Longer than either lane waits for an answer. */
const DELAY_MS = 5000;
const EVERY = 'every';

interface Chosen {
  readonly fault: string;
  /** How many requests of each lane meet the fault, for each cart. */
  readonly times: string;
}

const STORED = 'playground.fault';
/** What a new visitor gets: the fault that plain fetch handles worst. */
const FIRST: Chosen = { fault: 'lose-response', times: '1' };

const load = (): Chosen => {
  const stored = localStorage.getItem(STORED);
  return stored === null ? FIRST : (JSON.parse(stored) as Chosen);
};

export const titleOf = (fault: string): string => FAULTS[fault]?.title ?? fault;

export interface FaultPanel {
  /** Chooses a fault for the visitor: the first request of the next cart meets it. Resolves when the server has it. */
  choose(fault: string): Promise<void>;
  /** Sends the chosen fault to the server, after a new choice or for a new cart. */
  rearm(): Promise<void>;
}

export function faultPanel(root: HTMLElement, armed: () => void): FaultPanel {
  const options = part(root, 'options');
  const times = part<HTMLSelectElement>(root, 'times');
  let chosen = load();
  let arming: Promise<void> = Promise.resolve();
  options.prepend(...Object.entries(FAULTS).map(([name, fault]) => option(name, fault)));

  const show = (): void => {
    for (const radio of options.querySelectorAll('input')) radio.checked = radio.value === chosen.fault;
    times.value = chosen.times;
    const { title = '', does = '' } = FAULTS[chosen.fault] ?? {};
    say(part(root, 'now'), title);
    say(part(root, 'does'), does);
  };
  const rearm = (): Promise<void> => {
    const { fault, times } = chosen;
    // Requests go one after another, so that the last choice wins.
    arming = arming
      .then(() => arm(fault === NONE ? undefined : fault, times === EVERY ? undefined : Number(times), DELAY_MS))
      .catch(() => undefined)
      .then(armed);
    return arming;
  };
  const take = (next: Chosen): Promise<void> => {
    chosen = next;
    localStorage.setItem(STORED, JSON.stringify(chosen));
    show();
    return rearm();
  };
  root.addEventListener('change', () => {
    void take({ fault: options.querySelector<HTMLInputElement>('input:checked')?.value ?? NONE, times: times.value });
  });
  // Another tab has chosen a fault, and has already sent it to the server.
  addEventListener('storage', ({ key }) => {
    if (key !== STORED) return;
    chosen = load();
    show();
  });
  show();
  return { rearm, choose: (fault) => take({ fault, times: '1' }) };
}

function option(name: string, { title, does }: Fault): HTMLElement {
  const input = element('input', { type: 'radio', name: 'fault', value: name, 'aria-describedby': `does-${name}` }, []);
  return element('div', { class: 'fault' }, [
    element('label', {}, [input, element('span', { class: 'title' }, [title])]),
    element('p', { id: `does-${name}` }, [does]),
  ]);
}

/** Says what will happen to the next request of a lane. */
export function nextOf(lane: LaneName, armed: readonly ArmedFault[]): string {
  const next = armed.find((one) => one.lane === lane);
  if (!next) return 'The network works.';
  const { met = next.fault } = FAULTS[next.fault] ?? {};
  return next.times === null ? `Every request ${met}.` : next.times === 1 ? `The next request ${met}.` : `Each of the next ${next.times} requests ${met}.`;
}
