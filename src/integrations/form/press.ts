/** One press of a form's button: what it asks for, and whether another press asks for the same. */
import type { OperationName } from 'oncefetch';
import { ignoredIn, nameOfButton } from './attributes.js';
import { KEY_FIELD } from './key.js';
import { readSubmission, type Submission, type Submitter } from './submission.js';
import { type FormMoment, report } from './words.js';

/** What was pressed, the operation's name, and what had been typed into the form. */
export interface Press {
  readonly submission: Submission;
  readonly name: OperationName;
  readonly typed: string;
}

const unheard = (event: Event): void => event.stopImmediatePropagation();

/**
 * The fields of the form as it is now, as text, without the key and ignored fields, which nobody types. The form's `formdata` listeners
 * are not called, because they may add something different each time. A file that was not chosen has no time: browsers give it the present one.
 */
export function typedInto(form: HTMLFormElement, ignored: readonly string[]): string {
  const root = form.getRootNode();
  root.addEventListener('formdata', unheard, true);
  const fields = [...new FormData(form)].filter(([name]) => name !== KEY_FIELD && !ignored.includes(name));
  root.removeEventListener('formdata', unheard, true);
  return JSON.stringify(
    fields.map(([name, value]) => (typeof value === 'string' ? [name, value] : [name, value.name, value.size, value.size && value.lastModified])),
  );
}

export const isSameName = (one: OperationName, other: OperationName | undefined): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Whether both presses send the same. Code that submits a form presses no button; that counts as the same button as the other press. */
function isSameButton({ submitter: one, url }: Submission, { submitter: other, url: otherUrl }: Submission): boolean {
  return !one || !other || (url === otherUrl && one.name === other.name && (one.name === '' || one.value === other.value));
}

/** Whether operation and button are the same and nothing was edited between the two presses. */
export const isSamePress = (before: Press, now: Press): boolean =>
  before.typed === now.typed && isSameName(before.name, now.name) && isSameButton(before.submission, now.submission);

/** Whether the form that was pressed in this element was edited since. */
export const isEdited = ({ submission: { form }, typed }: Press, element: Element): boolean => typed !== typedInto(form, ignoredIn(element));

/** If the form was edited since the press `sent`, what is done is what was sent before, and the user is not told that this form is done. */
export const ofFields = <Told extends { readonly moment: FormMoment }>(told: Told, sent: Press | undefined, element: Element): Told =>
  told.moment === 'done' && sent && isEdited(sent, element) ? { ...told, moment: 'already' } : told;

/** Adds a press to those that wait. For each operation only the last press is kept. */
export const queued = (waiting: readonly Press[], press: Press): readonly Press[] => [...waiting.filter(({ name }) => !isSameName(name, press.name)), press];

/** Reads a press; `undefined` if it is left to the browser. */
export function pressOf(element: Element, form: HTMLFormElement, submitter: Submitter | undefined, own: OperationName): Press | undefined {
  const submission = readSubmission(form, submitter);
  try {
    if (!('left' in submission)) return { submission, name: nameOfButton(submitter) ?? own, typed: typedInto(form, ignoredIn(element)) };
    if (submission.mistake) throw submission.mistake;
  } catch (error) {
    report(error);
  }
  return undefined;
}
