/** From a submit to what is shown, for one element. */
import { namespace, type Operation, type OperationName, type OperationState, operation, pending, settle } from 'oncefetch';
import { formIn, ignoredIn, nameFrom, nextIn } from './attributes.js';
import { ask, collect, isNothing, mistake, momentOf, send } from './call.js';
import { FieldErrors } from './fields.js';
import { Known } from './known.js';
import type { OnceFormElement, Shared } from './options.js';
import { isSameName, isSamePress, type Press, pressOf, queued, typedInto } from './press.js';
import { busyButton, Status } from './status.js';
import type { Submitter } from './submission.js';
import { BUSY, type FormMoment, type FormOutcome, LAST_WORDS, report, wordsFor } from './words.js';

/** A tab that dies while it sends says nothing, so what another tab is at is looked at again after this time, ms. */
const LOOK_AGAIN_MS = 2000;

export class FormController {
  moment: FormMoment | '' = '';
  readonly known = new Known();
  readonly #element: OnceFormElement;
  readonly #shared: Shared;
  readonly #errors = new FieldErrors();
  #status: Status | undefined;
  #payment: Operation | undefined;
  #leave: (() => void) | undefined;
  /** Whose form it is. */
  #user: string | undefined;
  /** The call of this element that is under way, and whose: its own words come at its end. */
  #call: { readonly user: string | undefined } | undefined;
  /** Takes the pressed button back to rest. */
  #rests = (): void => {};
  #begun = false;
  /** The attribute that it began with. */
  #named: string | null | undefined;
  /** The press that the call is for, and those since then that are for something else. */
  #pressed: Press | undefined;
  #next: readonly Press[] = [];
  /** What was sent last, and may have taken effect. */
  #open: OperationName | undefined;
  /** The state of the form's operation does not show it: it is of a button's own, or could not be stored. */
  #kept = false;
  #turn = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(element: OnceFormElement, shared: Shared) {
    this.#element = element;
    this.#shared = shared;
  }

  /** A TypeError of the page's author is thrown to the console; the form is the browser's then. */
  connect(): void {
    if (document.readyState === 'loading')
      document.addEventListener('DOMContentLoaded', () => this.#element.isConnected && !this.#leave && this.#begin(), { once: true });
    else this.#begin();
  }

  disconnect(): void {
    this.#leave?.();
    this.#leave = undefined;
    this.#turn++;
    clearTimeout(this.#timer);
  }

  /** Its operation may have another name, or the server knows more of it. */
  changed(): void {
    if (!this.#begun || !this.#element.isConnected) return;
    this.disconnect();
    this.#begin();
  }

  submitted(event: SubmitEvent): void {
    const form = this.#form;
    // A listener of the app's has taken it; or it is another form.
    if (event.defaultPrevented || !this.#leave || !form || event.target !== form) return;
    this.#shared.spent.renew(form);
    const press = pressOf(this.#element, form, (event.submitter as Submitter | null) ?? undefined, (this.#payment as Operation).name);
    // Nobody is logged in, as far as the page knows: the server knows better, and says so.
    if (!press || this.#whoIsHere() === undefined) return;
    event.preventDefault();
    // One click more changes nothing. What is for another operation, or was edited, has its turn when the call has ended.
    if (!this.#busy) void this.#send(press);
    else if (!this.#pressed || !isSamePress(this.#pressed, press)) this.#next = queued(this.#next, press);
  }

  /** As it is now: a framework may put another one in its place. */
  get #form(): HTMLFormElement | null {
    return this.#element.querySelector('form');
  }

  /** Whoever corrects a field need not read on what was wrong with it. */
  edited(target: EventTarget | null): void {
    if (target instanceof Element && 'name' in target) this.#errors.clear(String(target.name));
  }

  async check(): Promise<void> {
    const name = this.#open ?? this.#payment?.name;
    if (this.#busy || !name || isNothing(this.#shared.client, name)) return;
    this.#pressed = undefined;
    await this.#ask(name, () => ask(this.#shared, name));
  }

  /** Its call is under way, and of whoever is here: who logs in meanwhile need not wait for it. */
  get #busy(): boolean {
    return this.#call !== undefined && this.#call.user === namespace(this.#shared.client);
  }

  #begin(): void {
    this.#begun = true;
    const named = this.#element.getAttribute('operation');
    // What is under way goes on, for the operation that it was sent for.
    if (named !== this.#named) {
      [this.#call, this.#named] = [undefined, named];
      this.#forget();
    }
    const name = nameFrom('operation', named);
    nextIn(this.#element);
    formIn(this.#element);
    this.#status ??= new Status(this.#element, () => void this.check());
    this.#payment = operation(this.#shared.client, name);
    this.#leave = this.#payment.subscribe(() => this.#draw());
    this.#draw();
  }

  async #send(press: Press): Promise<void> {
    const { submission, name } = press;
    [this.#pressed, this.#next] = [press, this.#next.filter((one) => one !== press)];
    this.#rests = busyButton(submission.submitter);
    this.#errors.clear();
    const asked = { element: this.#element, submission, name, keyed: isSameName(name, this.#payment?.name) };
    await this.#ask(name, () => send(this.#shared, collect(asked, this.#shared)));
  }

  async #ask(name: OperationName, call: () => Promise<FormOutcome>): Promise<void> {
    const mine = { user: namespace(this.#shared.client) };
    [this.#call, this.#open] = [mine, name];
    this.known.pressed();
    this.#show('sending');
    const told = await (async () => call())().catch(mistake);
    if (this.#call !== mine) return;
    this.#call = undefined;
    this.#rests();
    // Of somebody who has logged out nothing is shown, and nobody is led anywhere.
    if (mine.user !== this.#whoIsHere()) return this.#draw();
    // Whoever edits on will press again.
    this.#next = this.#next.filter(({ submission: { form }, typed }) => typed === typedInto(form, ignoredIn(this.#element)));
    if (told.moment === 'failed') report(told.error);
    [this.#open, this.#kept] = [told.moment === 'unknown' ? name : undefined, this.#payment?.state.phase !== 'unsettled'];
    this.#tell(told);
    const [next] = this.#next;
    if (next && !this.#busy) await this.#send(next);
  }

  #tell(told: FormOutcome): void {
    if (this.#form) this.#shared.spent.renew(this.#form);
    const named = this.#named;
    const shows = this.#element.dispatchEvent(new CustomEvent('once-outcome', { detail: told, bubbles: true, cancelable: true }));
    // A listener may have turned the element to another operation.
    if (named !== this.#named) return;
    if (shows) this.#display(told);
    else this.#markOnly(told.moment);
  }

  #display(told: FormOutcome): void {
    const refused = told.moment === 'refused' || told.moment === 'unknown';
    const { first, rest } = this.#form && refused ? this.#errors.show(this.#form, told.answer) : { first: undefined, rest: [] };
    this.#show(told.moment, told, told.moment === 'unknown', rest);
    if (!this.#element.isConnected) return;
    if (told.moment === 'done' && !this.#next.length) this.#goOn();
    else first?.focus();
  }

  #goOn(): void {
    const next = nextIn(this.#element);
    if (next !== undefined) location.assign(next);
    // The button that had the focus may be gone.
    else if (document.activeElement === document.body) this.#status?.focus();
  }

  /** What is known of the operation, whoever is at it: this page, another tab, or the one before a reload. */
  #draw(): void {
    const state = this.#payment?.state;
    this.#whoIsHere();
    if (state?.phase === 'sending') this.#show('sending');
    else if (state?.phase === 'waiting') this.#show(state.why === 'in-progress' ? 'waiting' : 'sending');
    else if (state && !this.#busy) this.#rest(state);
  }

  /** Nothing of the user before is left on the screen. */
  #whoIsHere(): string | undefined {
    const user = namespace(this.#shared.client);
    if (this.#user !== user) this.#forget();
    this.#user = user;
    return user;
  }

  /** Nobody is at it now. */
  #rest(state: OperationState): void {
    const ended = state.phase === 'settled' ? momentOf(state.outcome) : '';
    if (this.known.isDone(this.#element, this.#user, state, this.moment)) {
      // The server has rendered what is so: what was open here is not any more.
      if (state.phase === 'unsettled') void settle(this.#shared.client, state.pending.name, 'done').catch(() => {});
      this.#markOnly('done');
    } else if (state.phase === 'unsettled') void this.#lookAround(state.pending.name);
    else if (ended === 'done') this.moment === 'already' || this.#show(ended);
    // Whoever saw it being sent is told its end, also where a framework has put this element in the place of the one that was pressed.
    else if (!LAST_WORDS.has(this.moment) && !(this.#kept && this.moment === 'unknown')) this.#show(BUSY.has(this.moment) ? ended : '');
  }

  /** Whether another tab is at it, whose customer need not hear "not sure" yet. */
  async #lookAround(name: OperationName): Promise<void> {
    const turn = ++this.#turn;
    const open = await pending(this.#shared.client, { prefix: name }).catch(() => []);
    if (turn !== this.#turn || this.#busy || this.#payment?.state.phase !== 'unsettled') return;
    const found = open.find((one) => one.name.length === name.length);
    if (!found?.inFlight) return this.#show('unknown', undefined, found?.resumable);
    this.#show('sending');
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#draw(), LOOK_AGAIN_MS);
  }

  #forget(): void {
    this.#rests();
    this.#errors.clear();
    this.#open = undefined;
    this.#next = [];
    this.#show('');
  }

  /** `asks`: it can be asked after. */
  #show(moment: FormMoment | '', told?: FormOutcome, asks = this.#open !== undefined, rest: readonly string[] = []): void {
    const { says = {} } = this.#shared.options;
    // What this very submit was told says more than what is stored.
    if (told || moment !== this.moment) this.#status?.say(moment && [wordsFor(this.#element, says, moment, told, this.#payment?.state), ...rest].join(' '));
    this.#mark(moment);
    this.#status?.offer(asks && moment === 'unknown' ? wordsFor(this.#element, says, 'check') : undefined);
  }

  /** Says nothing of it; what was said before goes. */
  #markOnly(moment: FormMoment): void {
    this.#show('');
    this.#mark(moment);
  }

  #mark(moment: FormMoment | ''): void {
    this.moment = moment;
    if (moment) this.#element.setAttribute('state', moment);
    else this.#element.removeAttribute('state');
    if (BUSY.has(moment)) this.#form?.setAttribute('aria-busy', 'true');
    else this.#form?.removeAttribute('aria-busy');
  }
}
