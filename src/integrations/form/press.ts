/** One press of a form's button: what it asks for, and whether another press asks for the same. */
import type { OperationName } from 'oncefetch';
import { ignoredIn, nameOfButton } from './attributes.js';
import { KEY_FIELD } from './key.js';
import { readSubmission, type Submission, type Submitter } from './submission.js';
import { type FormMoment, report } from './words.js';

/** What was pressed, the operation's name, what had been typed into the form, and the fields that counted then. */
export interface Press {
  readonly submission: Submission;
  readonly name: OperationName;
  readonly typed: string;
  readonly counted: ReadonlySet<Element>;
}

const unheard = (event: Event): void => event.stopImmediatePropagation();

/** A field's part of the form. A file that was not chosen has no time: browsers give it the present one. */
const textOf = (name: string, value: FormDataEntryValue): string =>
  JSON.stringify(typeof value === 'string' ? [name, value] : [name, value.name, value.size, value.size && value.lastModified]);

/** What a form would have of one of the browser's own fields, if that were not disabled. */
function valuesOf(field: Element): readonly FormDataEntryValue[] {
  if (field instanceof HTMLSelectElement) return [...field.selectedOptions].map(({ value }) => value);
  if (field instanceof HTMLTextAreaElement) return [field.value];
  if (!(field instanceof HTMLInputElement) || /^(submit|image|reset|button)$/.test(field.type)) return [];
  if (field.type === 'file') return field.files?.length ? [...field.files] : [new File([], '')];
  return !/^(checkbox|radio)$/.test(field.type) || field.checked ? [field.value] : [];
}

/** The elements of the form that are disabled (`true`), or those that are not. */
const fieldsThat = (form: HTMLFormElement, disabled: boolean): readonly Element[] => [...form.elements].filter((one) => one.matches(':disabled') === disabled);

/**
 * The fields of the form as it is now, as text, without the key and ignored fields, which nobody types. The form's `formdata` listeners
 * are not called, because they may add something different each time. `counted`: fields that count although the page may have disabled
 * them since, as many pages do while a form is being sent.
 */
export function typedInto(form: HTMLFormElement, ignored: readonly string[], counted: ReadonlySet<Element> = new Set()): string {
  const root = form.getRootNode();
  root.addEventListener('formdata', unheard, true);
  const fields = [...new FormData(form)];
  root.removeEventListener('formdata', unheard, true);
  for (const field of fieldsThat(form, true))
    if (counted.has(field)) for (const value of valuesOf(field)) fields.push([(field as HTMLInputElement).name, value]);
  const typed = fields.filter(([name]) => name !== '' && name !== KEY_FIELD && !ignored.includes(name));
  return typed
    .map(([name, value]) => textOf(name, value))
    .sort()
    .join();
}

export const isSameName = (one: OperationName, other: OperationName | undefined): boolean => JSON.stringify(one) === JSON.stringify(other);

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
      return { submission, name: nameOfButton(submitter) ?? own, typed: typedInto(form, ignoredIn(element)), counted: new Set(fieldsThat(form, false)) };
    if (submission.mistake) throw submission.mistake;
  } catch (error) {
    report(error);
  }
  return undefined;
}
