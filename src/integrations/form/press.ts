/** One press of a form's button: what it would send, and whether another press would send the same. */
import type { Operation, OperationName } from 'oncefetch';
import { ignoredIn, nameOfButton } from './attributes.js';
import { fieldsIn } from './fields.js';
import { countedOf } from './fingerprint.js';
import { wrong } from './options.js';
import { readSubmission, type Submission, type Submitter } from './submission.js';
import { type FormMoment, type FormOutcome, report } from './words.js';

/** What was pressed, the operation's name, what had been typed into the form, and the fields that counted then. */
export interface Press {
  readonly submission: Submission;
  /** The attribute `operation` of the element. */
  readonly named: string | null;
  readonly name: OperationName;
  readonly typed: string;
  readonly counted: ReadonlySet<Element>;
}

const unheard = (event: Event): void => event.stopImmediatePropagation();

const isDisabled = (field: Element): boolean => field.matches(':disabled');

/** The entries that a form would have for this field if the field were not disabled. */
function entriesOf(field: Element): [string, FormDataEntryValue][] {
  const { name, type, value, checked, files, selectedOptions } = field as HTMLInputElement & HTMLSelectElement;
  const values = (): readonly FormDataEntryValue[] => {
    if (selectedOptions) return [...selectedOptions].filter((option) => !option.matches('[disabled], optgroup[disabled] > *')).map((option) => option.value);
    if (files) return files.length ? [...files] : [new File([], '')];
    return typeof value !== 'string' || /submit|image|reset|button|output/.test(type) || (/checkbox|radio/.test(type) && !checked) ? [] : [value];
  };
  return name ? values().map((one) => [name, one]) : [];
}

/**
 * The present fields of the form as text, without the key and the ignored fields, which the user does not edit. Does not call the form's
 * `formdata` listeners, because they may add something different each time. Leaves out the time of an empty file field, because browsers set
 * it to now. `counted`: fields that count even if the page has disabled them since, as many pages do while a form is being sent.
 */
function typedInto(form: HTMLFormElement, ignored: readonly string[], counted?: ReadonlySet<Element>): string {
  const root = form.getRootNode();
  root.addEventListener('formdata', unheard, true);
  const enabled = [...new FormData(form)];
  root.removeEventListener('formdata', unheard, true);
  const disabled = fieldsIn(form)
    .filter((one) => counted?.has(one) && isDisabled(one))
    .flatMap(entriesOf);
  return JSON.stringify(
    // Sorted by name, because fields that are disabled by now come last.
    countedOf([...enabled, ...disabled], ignored).map(([name, value]) =>
      typeof value === 'string' ? [name, value] : [name, value.name, value.size, value.size && value.lastModified],
    ),
  );
}

export const isSameName = (one: OperationName, other: OperationName | undefined): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Whether the form's own operation is done, by this outcome or before it: the outcome may be that of a button's own operation. */
export const isFormDone = ({ name, state }: Operation, { moment, outcome }: FormOutcome): boolean =>
  (moment === 'done' && isSameName(name, outcome?.operation)) || (state.phase === 'settled' && state.outcome.effect === 'done');

/** Whether the pressed buttons send the same. If code submitted the form, no button was pressed, and any button counts as the same. */
function isSameButton({ submitter: one, url }: Submission, { submitter: other, url: otherUrl }: Submission): boolean {
  return !one || !other || (url === otherUrl && one.name === other.name && (one.name === '' || one.value === other.value));
}

/** Called at the press `now`: whether operation and button are the same as before, and the user has edited nothing in between. */
export const isSamePress = (before: Press, now: Press, element: Element): boolean =>
  !isEdited(before, element, now.submission.form) && isSameName(before.name, now.name) && isSameButton(before.submission, now.submission);

/** Whether the user has edited the form since this press. Fields that the page has disabled since do not count as edited. */
const isEdited = ({ submission, typed, counted }: Press, element: Element, form = submission.form): boolean =>
  typed !== typedInto(form, ignoredIn(element), counted);

/**
 * Called when all listeners have had the submit: whether the element still has the operation that was pressed. If one of them has given it another
 * one, as an app does that shows the next order at once, fields and key are of that one by now. Sent as what was pressed, it would be charged twice.
 */
export function isStill({ named }: Press, element: Element): boolean {
  const same = element.getAttribute('operation') === named;
  if (!same) report(wrong('the attribute operation', 'not change in a listener of submit'));
  return same;
}

/**
 * Whether the form would now send something else than at this press, be it only because the page has disabled fields since. Its key may be that of
 * another operation, which the page has given the element while it was not in the document.
 */
export const sendsOther = ({ submission, typed, named }: Press, element: Element): boolean =>
  element.getAttribute('operation') !== named || typed !== typedInto(submission.form, ignoredIn(element));

/** Changes `done` to `already` if the form was edited since the press `sent`: the earlier input is done, not what the form contains now. */
export const alreadyIfEdited = <Told extends { readonly moment: FormMoment }>(told: Told, sent: Press | undefined, element: Element): Told =>
  told.moment === 'done' && sent && isEdited(sent, element) ? { ...told, moment: 'already' } : told;

/** Adds a press to those that wait. For each operation only the last press is kept. */
export const queued = (waiting: readonly Press[], press: Press): readonly Press[] => [...waiting.filter(({ name }) => !isSameName(name, press.name)), press];

/** Reads a press; `undefined` if the browser is to send the form. Reports a mistake of the page. */
export function pressOf(element: Element, form: HTMLFormElement, submitter: Submitter | undefined, own: OperationName): Press | undefined {
  const submission = readSubmission(form, submitter);
  try {
    if (submission instanceof TypeError) throw submission;
    return (
      submission && {
        submission,
        named: element.getAttribute('operation'),
        name: nameOfButton(submitter) ?? own,
        typed: typedInto(form, ignoredIn(element)),
        counted: new Set(fieldsIn(form).filter((one) => !isDisabled(one))),
      }
    );
  } catch (error) {
    report(error);
    return undefined;
  }
}
