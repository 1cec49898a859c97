/** One press of a form's button: what it asks for, and whether another press asks for the same. */
import type { Operation, OperationName } from 'oncefetch';
import { ignoredIn, nameOfButton } from './attributes.js';
import { fieldsIn } from './fields.js';
import { KEY_FIELD } from './key.js';
import { readSubmission, type Submission, type Submitter } from './submission.js';
import { type FormMoment, type FormOutcome, report } from './words.js';

/** What was pressed, the operation's name, what had been typed into the form, and the fields that counted then. */
export interface Press {
  readonly submission: Submission;
  readonly name: OperationName;
  readonly typed: string;
  readonly counted: ReadonlySet<Element>;
}

const unheard = (event: Event): void => event.stopImmediatePropagation();

const isDisabled = (field: Element): boolean => field.matches(':disabled');

/** What a form would have of this field, if that were not disabled. */
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
 * The fields of the form as it is now, as text, without the key and ignored fields, which nobody types. The form's `formdata` listeners
 * are not called, because they may add something different each time. A file that was not chosen has no time: browsers give it the present
 * one. `counted`: fields that count although the page may have disabled them since, as many pages do while a form is being sent.
 */
export function typedInto(form: HTMLFormElement, ignored: readonly string[], counted?: ReadonlySet<Element>): string {
  const root = form.getRootNode();
  root.addEventListener('formdata', unheard, true);
  const enabled = [...new FormData(form)];
  root.removeEventListener('formdata', unheard, true);
  const disabled = fieldsIn(form)
    .filter((one) => counted?.has(one) && isDisabled(one))
    .flatMap(entriesOf);
  const fields = [...enabled, ...disabled].filter(([name]) => name !== KEY_FIELD && !ignored.includes(name));
  // In the order of their names, because what is disabled by now stands at the end.
  fields.sort(([one], [other]) => (one < other ? -1 : Number(one > other)));
  return JSON.stringify(
    fields.map(([name, value]) => (typeof value === 'string' ? [name, value] : [name, value.name, value.size, value.size && value.lastModified])),
  );
}

export const isSameName = (one: OperationName, other: OperationName | undefined): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Whether the form's own operation is done, by this outcome or before: the outcome may be that of a button's own operation. */
export const isFormDone = ({ name, state }: Operation, { moment, outcome }: FormOutcome): boolean =>
  (moment === 'done' && isSameName(name, outcome?.operation)) || (state.phase === 'settled' && state.outcome.effect === 'done');

/** Whether both presses send the same. Code that submits a form presses no button; that counts as the same button as the other press. */
function isSameButton({ submitter: one, url }: Submission, { submitter: other, url: otherUrl }: Submission): boolean {
  return !one || !other || (url === otherUrl && one.name === other.name && (one.name === '' || one.value === other.value));
}

/** Whether operation and button are the same and nothing was edited between the two presses; called at the second one. */
export const isSamePress = (before: Press, now: Press, element: Element): boolean =>
  !isEdited(before, element, now.submission.form) && isSameName(before.name, now.name) && isSameButton(before.submission, now.submission);

/** Whether the form that was pressed in this element was edited since. */
const isEdited = ({ submission, typed, counted }: Press, element: Element, form = submission.form): boolean =>
  typed !== typedInto(form, ignoredIn(element), counted);

/** Whether the form, as it is now, would send something else than at this press: also if the page has disabled fields since. */
export const sendsOther = ({ submission, typed }: Press, element: Element): boolean => typed !== typedInto(submission.form, ignoredIn(element));

/** If the form was edited since the press `sent`, what is done is what was sent before, and the user is not told that this form is done. */
export const ofFields = <Told extends { readonly moment: FormMoment }>(told: Told, sent: Press | undefined, element: Element): Told =>
  told.moment === 'done' && sent && isEdited(sent, element) ? { ...told, moment: 'already' } : told;

/** Adds a press to those that wait. For each operation only the last press is kept. */
export const queued = (waiting: readonly Press[], press: Press): readonly Press[] => [...waiting.filter(({ name }) => !isSameName(name, press.name)), press];

/** Reads a press; `undefined` if it is left to the browser. */
export function pressOf(element: Element, form: HTMLFormElement, submitter: Submitter | undefined, own: OperationName): Press | undefined {
  const submission = readSubmission(form, submitter);
  try {
    if (!('left' in submission))
      return {
        submission,
        name: nameOfButton(submitter) ?? own,
        typed: typedInto(form, ignoredIn(element)),
        counted: new Set(fieldsIn(form).filter((one) => !isDisabled(one))),
      };
    if (submission.mistake) throw submission.mistake;
  } catch (error) {
    report(error);
  }
  return undefined;
}
