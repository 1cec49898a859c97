/** Draws the headline as a table: a row for each lane, a column for each kind of harm. */
import { element, part, say } from './dom.ts';
import type { Harm, Headline } from './harm.ts';
import { replaceIfNew, troubled } from './ledger.ts';

const KINDS = ['chargedTwice', 'notCharged', 'toldUntrue'] as const;

const rowOf = (harm: Harm): HTMLElement =>
  element('tr', {}, [
    element('th', { scope: 'row' }, [harm.lane]),
    element('td', { class: 'spare' }, [`${harm.customers}`]),
    ...KINDS.map((kind) => element('td', {}, [harm[kind] > 0 ? troubled(harm[kind]) : '0'])),
  ]);

export function drawScore(root: HTMLElement, headline: Headline | undefined): void {
  root.hidden = headline === undefined;
  if (headline === undefined) return;
  say(part(root, 'score-title'), `${headline.title}: who came to harm`);
  replaceIfNew(part(root, 'score-lanes'), headline.lanes.map(rowOf));
}
