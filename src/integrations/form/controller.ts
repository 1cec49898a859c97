/** Controls one element: from a submit to what is shown. */
import { namespace, type Operation, type OperationName, type OperationState, operation, settle } from 'oncefetch';
import { formIn, nameFrom, nextIn } from './attributes.js';
import { ask, isNothing, LOOK_AGAIN_MS, mistake, momentOf, openOf, send } from './call.js';
import { FieldErrors, setOrRemove } from './fields.js';
import { Known } from './known.js';
import type { OnceFormElement, Shared } from './options.js';
import { alreadyIfEdited, isFormDone, isSameName, isSamePress, isStill, type Press, pressOf, queued, sendsOther } from './press.js';
import { busyButton, Status } from './status.js';
import { type Submitter, take } from './submission.js';
import { BUSY, ENDED, type FormMoment, type FormOutcome, isTooLate, LAST_WORDS, reasonOf, report, wordsFor } from './words.js';

export class FormController {
  moment: FormMoment | '' = '';
  readonly known = new Known();
  readonly #element: OnceFormElement;
  readonly #shared: Shared;
  readonly #errors = new FieldErrors();
  #status: Status | undefined;
  #payment: Operation | undefined;
  #leave: (() => void) | undefined;
  /** The user whom the form is shown to. */
  #user: string | undefined;
  /** The call of this element that is under way, and its user. When it ends, the form shows its outcome. */
  #call: { readonly user: string | undefined } | undefined;
  /** Makes the pressed button look idle again. */
  #endBusy = (): void => {};
  /** The attribute `operation` as it was at the last `#begin`; `undefined` before the first one. */
  #named: string | null | undefined;
  /** The press that the call is for. `#next`: later presses for something else, which wait. `#sent`: the press that was sent last. */
  #pressed: Press | undefined;
  #next: readonly Press[] = [];
  #sent: Press | undefined;
  /** The operation that was sent last, while it may have taken effect. */
  #open: OperationName | undefined;
  /** Keep showing `unknown` although the state of the form's operation does not: a button has its own operation, or there is no sound record of it. */
  #kept = false;
  #turn = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(element: OnceFormElement, shared: Shared) {
    this.#element = element;
    this.#shared = shared;
  }

  /** Throws a TypeError if the page has a mistake. It appears in the console, and the browser sends the form. */
  connect(): void {
    if (!this.#leave) this.#begin();
  }

  disconnect(): void {
    this.#leave?.();
    this.#leave = undefined;
    this.#turn++;
    clearTimeout(this.#timer);
  }

  /** An attribute has changed: the operation has another name, or the server has rendered `known`. */
  changed(): void {
    if (this.#named === undefined || !this.#element.isConnected) return;
    this.disconnect();
    this.#begin();
  }

  submitted(event: SubmitEvent): void {
    const form = this.#form;
    // Do nothing if a listener of the app handles the submit, or if it is that of another form.
    if (event.defaultPrevented || !form || event.target !== form) return;
    this.connect(); // It is not connected yet if the form was added late, or if the page is still loading.
    this.#shared.spent.renew(form);
    const press = pressOf(this.#element, form, (event.submitter as Submitter | null) ?? undefined, (this.#payment as Operation).name);
    // If nobody is logged in as far as the page knows, leave the submit to the browser: the server will say so.
    if (!press || this.#whoIsHere() === undefined) return;
    take(event, this.#shared.gestures.goesOn() ? undefined : () => isStill(press, this.#element) && this.#press(press));
  }

  /** Sends, queues or ignores a press. While "Check" asks about its operation, sends it at once, to join that one: afterwards it could be another effect. */
  #press(press: Press): void {
    if (!this.#busy || (!this.#pressed && isSameName(press.name, this.#open))) void this.#send(press);
    else if (!this.#pressed || !isSamePress(this.#pressed, press, this.#element)) this.#next = queued(this.#next, press);
  }

  /** Shows the text and the button again if another script has removed them, unless they were meant for another user. */
  again(): void {
    if (this.#user === this.#whoIsHere()) this.#status?.again();
    this.#mark(this.moment);
  }

  /** The present form: a framework may replace it at any time. */
  get #form(): HTMLFormElement | null {
    return this.#element.querySelector('form');
  }

  /** The user has edited a field: remove its error. */
  edited = (target: EventTarget | null): void => this.#errors.edited(target);

  async check(): Promise<void> {
    const [named, name] = [this.#named, this.#open ?? this.#payment?.name];
    if (!name || (await isNothing(this.#shared.client, name)) || this.#busy || named !== this.#named) return; // it has another operation by now
    this.#pressed = undefined;
    await this.#ask(name, async () => alreadyIfEdited(await ask(this.#shared, name), this.#sent, this.#element));
  }

  /** Whether a call of the present user is under way. A user who logs in meanwhile need not wait for another user's call. */
  get #busy(): boolean {
    return !!this.#call && this.#call.user === namespace(this.#shared.client);
  }

  #begin(): void {
    const named = this.#element.getAttribute('operation');
    // The element was given another operation. A call under way goes on, but the element does not show it any more.
    if (named !== this.#named) {
      [this.#call, this.#named] = [undefined, named];
      this.#forget();
    }
    this.#payment = operation(this.#shared.client, nameFrom('operation', named));
    nextIn(this.#element);
    formIn(this.#element);
    this.#status ??= new Status(this.#element, () => void this.check());
    this.#leave = this.#payment.subscribe(() => this.#showState());
    this.#showState();
  }

  async #send(press: Press): Promise<void> {
    const { submission, name } = press;
    [this.#pressed, this.#sent, this.#next] = [press, press, this.#next.filter((one) => one !== press)];
    this.#endBusy = busyButton(submission.submitter);
    this.#errors.clear();
    const asked = { element: this.#element, submission, name, keyed: isSameName(name, this.#payment?.name) };
    await this.#ask(name, () => send(this.#shared, asked));
  }

  async #ask(name: OperationName, call: () => Promise<FormOutcome>): Promise<void> {
    const mine = { user: namespace(this.#shared.client) };
    [this.#call, this.#open] = [mine, name];
    this.known.pressed();
    this.#show('sending');
    const told = await (async () => call())().catch(mistake);
    if (this.#call !== mine) return;
    this.#call = undefined;
    this.#endBusy();
    // If the user has changed, show nothing of the call, and do not go to the next page.
    if (mine.user !== this.#whoIsHere()) return this.#showState();
    // Drop waiting presses whose form was edited or disabled since: the user will press again.
    this.#next = this.#next.filter((one) => !sendsOther(one, this.#element));
    if (told.moment === 'failed') report(told.error);
    this.#kept = reasonOf(told) === 'record' || this.#payment?.state.phase !== 'unsettled';
    this.#open = told.moment === 'unknown' ? name : undefined;
    this.#tell(told);
    if (this.#next[0] && !this.#busy) await this.#send(this.#next[0]);
    // If a button's own operation was sent after that, its outcome must not hide that the form is done.
    if (told.moment === 'done' && !ENDED.has(this.moment)) this.#showState();
  }

  #tell(told: FormOutcome): void {
    if (this.#form) this.#shared.spent.renew(this.#form);
    const named = this.#named;
    const shows = this.#element.dispatchEvent(new CustomEvent('once-outcome', { detail: told, bubbles: true, cancelable: true }));
    // A listener of the app may have changed the element's operation or pressed a button. Then stay on the page, and show that call.
    if (named !== this.#named || this.#busy) return;
    if (shows) this.#showOutcome(told);
    else this.#markOnly(told.moment);
  }

  #showOutcome(told: FormOutcome): void {
    const { first, rest = [] } = this.#form && /^(unknown|refused)$/.test(told.moment) ? this.#errors.show(this.#form, told.answer) : {};
    this.#show(told.moment, told, true, rest);
    if (!this.#element.isConnected) return;
    if (told.moment === 'done' && !this.#next.length) this.#goOn(isFormDone(this.#payment as Operation, told));
    else first?.focus();
  }

  /** `leaves`: go to the page `next`, if there is one. Not after a button's own operation, such as saving a draft. */
  #goOn(leaves: boolean): void {
    const next = leaves ? nextIn(this.#element) : undefined;
    if (next) location.assign(next);
    // The button that had the focus may have been removed.
    else if (document.activeElement === document.body) this.#status?.focus();
  }

  /** Shows the state of the operation, whether this page or another context drives it. Once it shows "waiting", it keeps that for further attempts. */
  #showState(): void {
    const state = this.#payment?.state;
    this.#whoIsHere();
    const waits = state?.phase === 'waiting' ? state.why === 'in-progress' : this.moment === 'waiting';
    if (state && BUSY.has(state.phase)) this.#show(waits ? 'waiting' : 'sending');
    else if (state && !this.#busy) this.#showStateAtRest(state);
  }

  /** The present user. If that is another one than before, removes from the screen what was shown of the previous user. */
  #whoIsHere(): string | undefined {
    const user = namespace(this.#shared.client);
    if (this.#user !== user) this.#forget();
    this.#user = user;
    return user;
  }

  /** Shows the state of the operation while no call of this page is under way. */
  #showStateAtRest(state: OperationState): void {
    const ended = state.phase === 'settled' ? momentOf(state.outcome) : '';
    const isDone = (): boolean => state === this.#payment?.state && this.known.isDone(this.#element, this.#user, state, this.moment, this.#shared.repeated);
    if (isDone()) {
      // Settle what is unsettled here, once all attributes are set: frameworks set them one by one, so that `known` may be that of another operation.
      if (state.phase === 'unsettled') queueMicrotask(() => isDone() && settle(this.#shared.client, state.pending.name, 'done').catch(() => {}));
      this.#markOnly('done');
    } else if (state.phase === 'unsettled') void this.#showOpen(state.pending.name);
    else if (ended === 'done') ENDED.has(this.moment) || this.#show(alreadyIfEdited({ moment: ended }, this.#sent, this.#element).moment);
    // If "sending" was shown, show the end too, even if a framework has replaced the element that was pressed by this one.
    else if (!LAST_WORDS.has(this.moment) && !(this.#kept && this.moment === 'unknown')) this.#show(BUSY.has(this.moment) ? ended : '');
  }

  /** For an unsettled operation: shows `sending` if another tab is driving it, and may still bring it to an end; otherwise `unknown`. */
  async #showOpen(name: OperationName): Promise<void> {
    const [turn, found] = [++this.#turn, await openOf(this.#shared.client, name)];
    if (turn !== this.#turn || this.#busy || this.#payment?.state.phase !== 'unsettled') return;
    if (!found?.inFlight) return this.#show('unknown', undefined, found?.resumable);
    this.#show('sending');
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#showState(), LOOK_AGAIN_MS);
  }

  #forget(): void {
    this.#endBusy();
    this.#errors.clear();
    [this.#open, this.#sent, this.#next] = [undefined, undefined, []];
    this.#show('');
  }

  /** `asks`: what was sent can be sent again, so offer the button "Check", if the moment is `unknown`. The app's `reconcile` can always be asked. */
  #show(moment: FormMoment | '', told?: FormOutcome, asks = !!this.#open, rest: readonly string[] = []): void {
    const { says = {} } = this.#shared.options;
    // `told` is the outcome of this very submit, which is more precise than the stored state.
    if (told || moment !== this.moment) this.#status?.say(moment && [wordsFor(this.#element, says, moment, told, this.#payment?.state), ...rest].join(' '));
    this.#mark(moment);
    const offers = moment === 'unknown' && (this.#shared.settings.reconcile || (asks && !isTooLate(told, this.#payment?.state)));
    this.#status?.offer(offers ? wordsFor(this.#element, says, 'check') : undefined);
  }

  /** Sets the moment, and removes the text instead of showing one. */
  #markOnly(moment: FormMoment): void {
    this.#show('');
    this.#mark(moment);
  }

  #mark(moment: FormMoment | ''): void {
    this.moment = moment;
    setOrRemove(this.#element, 'state', moment);
    setOrRemove(this.#form, 'aria-busy', BUSY.has(moment) ? 'true' : '');
  }
}
