/** The playground's page: joins cart, lanes, faults, ledger and timeline. */
import { clear } from 'oncefetch';
import { banner } from './banner.ts';
import { amountOf, CARDS, type Cart, euros, isNewcomer, loadCart, newCart, type Order, onCartOfOtherTab, saveCart } from './cart.ts';
import { oncePerFrame, part, say } from './dom.ts';
import { faultPanel, nextOf } from './faults.ts';
import { beginRun, headline, joinRun } from './harm.ts';
import { OnceLane } from './lanes/once.ts';
import { once } from './lanes/once-pay.ts';
import onceCode from './lanes/once-pay.ts?raw';
import { plainLane } from './lanes/plain.ts';
import plainCode from './lanes/plain-pay.ts?raw';
import { laneView } from './lanes/view.ts';
import { drawLaneCounts } from './lanes-by-hand.ts';
import { drawLedger, type News, watchLedger } from './ledger.ts';
import { drawScore } from './score.ts';
import { intend, reset } from './shop.ts';
import { startShow } from './show.ts';
import { drawEvents } from './timeline/once-events.ts';
import { recorder } from './timeline/recorder.ts';
import { drawTimelines } from './timeline/view.ts';

const page = document.body;
const newcomer = isNewcomer();
let cart = loadCart();
let news: News | undefined;

const quantity = part<HTMLInputElement>(page, 'quantity');
const card = part<HTMLSelectElement>(page, 'card');
const orderNow = (): Order => ({ cart: cart.id, amount: amountOf(cart), card: card.value === 'declined' ? CARDS.declined : CARDS.works });

// The lanes
const plain = plainLane();
const right = new OnceLane();
const template = part<HTMLTemplateElement>(page, 'lane-template');
const [plainView, onceView] = [
  laneView(plain, addLane(), 'As most apps write it: a disabled button, one retry, a generous catch.', plainCode, startingOrder),
  laneView(right, addLane(), 'One stored key for each cart, and the truth about what happened.', onceCode, startingOrder),
] as const;
const views = [plainView, onceView];

drawLaneCounts(part(page, 'by-hand'));

function addLane(): HTMLElement {
  const root = (template.content.cloneNode(true) as DocumentFragment).firstElementChild as HTMLElement;
  part(page, 'lanes').append(root);
  return root;
}

/** A press of Pay. From here on, the ledger expects a charge for the cart. */
function startingOrder(): Order {
  if (!cart.started) cart = saveCart({ ...cart, started: true });
  joinRun(cart.id);
  return orderNow();
}

// The banner stands in the oncefetch lane, because only that lane remembers payments.
onceView.told.before(part(page, 'banner'));
const isCurrent = (id: string): boolean => id === cart.id;
const unsettled = banner(
  part(page, 'banner'),
  onceView.status,
  (id) => isCurrent(id) && (right.seen.is === 'paying' || (right.seen.is === 'unsure' && !right.seen.found)),
  (id) => {
    if (isCurrent(id)) right.check();
    return isCurrent(id);
  },
);

// Drawing
const busy = (): boolean => views.some(({ lane }) => lane.seen.is === 'paying');
const askLedger = watchLedger(busy, (heard) => {
  news = heard;
  drawLedger(part(page, 'ledger'), heard);
  drawScore(part(page, 'score'), headline(heard.ledger.carts));
  redraw();
});
const faults = faultPanel(part(page, 'faults'), askLedger);

/** How often to redraw a bar that still grows. */
const OPEN_BAR_MS = 200;

const redraw = oncePerFrame(() => {
  // The field is left alone while the visitor types in it.
  if (document.activeElement !== quantity) quantity.value = String(cart.quantity);
  say(part(page, 'total'), euros(amountOf(cart)));
  const rows = news?.ledger.rows ?? [];
  for (const { lane, draw } of views) draw(cart, rows, news ? nextOf(lane.name, news.armed) : '');
  const drawn = views.map(({ lane, list }) => ({
    lane: lane.name,
    list,
    charges: rows.filter((row) => row.lane === lane.name && row.cart === cart.id).length,
  }));
  if (drawTimelines(drawn, cart.id)) setTimeout(redraw, OPEN_BAR_MS);
});

plain.onChange(changed);
right.onChange(changed);
function changed(): void {
  redraw();
  askLedger();
  void unsettled.refresh();
}

recorder.subscribe((entry) => {
  redraw();
  // Another tab got an answer, so this tab must stop showing an older state.
  if (entry?.kind !== 'end' || entry.tab === recorder.tab) return;
  if (entry.tone === 'unsure') void unsettled.refresh();
  else void right.heardElsewhere(entry.cart, entry.tone === 'good').then(() => unsettled.refresh());
});
drawEvents(once);
document.addEventListener('visibilitychange', () => void unsettled.refresh());

// The cart
function turnTo(next: Cart): void {
  cart = next;
  for (const { lane } of views) lane.turnTo(cart.id);
  changed();
}

/** A customer who leaves without having been told "paid" counts as one who gave up. */
function giveUp(): void {
  if (cart.started && (plain.seen.is === 'failed' || plain.seen.is === 'ready'))
    void intend('plain fetch', cart.id, plain.seen.is === 'failed' ? 'failed' : 'gave-up');
}

onCartOfOtherTab((changed) => {
  if (changed.id !== cart.id) return turnTo(changed);
  cart = changed;
  redraw();
});
quantity.addEventListener('input', () => {
  if (!quantity.checkValidity() || quantity.value === '') return;
  cart = saveCart({ ...cart, quantity: quantity.valueAsNumber });
  redraw();
});

const onClick = (name: string, act: () => void): void => part(page, name).addEventListener('click', act);
const payBoth = (): void => {
  for (const { press } of views) press();
};

/** How long the server gets to start handling the requests, once both lanes have sent one. */
const BEGUN_MS = 100;
const BEGIN_MS_MAX = 2000;

onClick('pay-both', payBoth);
onClick('pay-and-reload', () => {
  payBoth();
  const giveUpAt = Date.now() + BEGIN_MS_MAX;
  const look = (): void => {
    const begun = views.every(({ lane }) => recorder.open(lane.name, 'attempt').length > 0);
    if (begun || Date.now() > giveUpAt) setTimeout(() => location.reload(), BEGUN_MS);
    else setTimeout(look, 10);
  };
  look();
});
onClick('new-cart', () => {
  giveUp();
  turnTo(newCart());
  void faults.rearm();
});
onClick('start-over', () => {
  void Promise.all([reset(), clear(once, { unsettled: 'forget' })])
    .then(() => {
      recorder.clear();
      beginRun('');
      newCart();
      // A reload ends the calls of the page.
      location.reload();
    })
    .catch(askLedger);
});

// The show
startShow(
  part(page, 'show'),
  {
    busy,
    begin: (seed) => beginRun(`Run ${seed}`),
    end: giveUp,
    play: async ({ fault, bags }) => {
      giveUp();
      turnTo(saveCart({ ...newCart(), quantity: bags }));
      card.value = 'works';
      await faults.choose(fault);
      payBoth();
    },
  },
  newcomer,
  [part(page, 'checkout'), part(page, 'lanes')],
);

// `?devtools` in the URL opens the panel for developers.
if (new URLSearchParams(location.search).has('devtools')) void import('oncefetch/devtools').then(({ devtools }) => devtools(once, { label: 'checkout' }));

recorder.noteReload(cart.id);
turnTo(cart);
if (!cart.started) void faults.rearm();
