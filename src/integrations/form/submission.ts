/** What one submit asks for, read as the browser would (HTML standard, "form submission algorithm"). */
import { wrong } from './options.js';

export type Submitter = HTMLButtonElement | HTMLInputElement;

export interface Submission {
  readonly form: HTMLFormElement;
  readonly submitter: Submitter | undefined;
  readonly url: string;
  readonly multipart: boolean;
}

/** `left`: it is the browser's. `mistake`: what a developer should know about it. */
export type Read = Submission | { readonly left: true; readonly mistake?: TypeError | undefined };

const left = (mistake?: TypeError): Read => ({ left: true, mistake });

/** The attribute of the button that was pressed, else of the form. */
function said(form: HTMLFormElement, submitter: Submitter | undefined, name: 'action' | 'method' | 'enctype' | 'target'): [string, string] {
  const own = submitter?.getAttribute(`form${name}`);
  return own === null || own === undefined ? [form.getAttribute(name) ?? '', name] : [own, `form${name}`];
}

/** Whether code can send this, or only the browser. */
export function readSubmission(form: HTMLFormElement, submitter: Submitter | undefined): Read {
  const [method, methodFrom] = said(form, submitter, 'method');
  if (method.toLowerCase() !== 'post') return left(methodFrom === 'method' ? wrong('method', 'be post', method) : undefined);
  const [target, targetFrom] = said(form, submitter, 'target');
  if (target !== '' && target !== '_self') return left(wrong(targetFrom, 'be absent: the answer comes to this page', target));
  const [action, actionFrom] = said(form, submitter, 'action');
  const url = new URL(action, action === '' ? document.URL : document.baseURI);
  // A framework's own action, such as React's, is that framework's.
  if (!/^https?:$/.test(url.protocol)) return left();
  if (url.origin !== location.origin) return left(wrong(actionFrom, 'be of this origin', action));
  const [enctype, enctypeFrom] = said(form, submitter, 'enctype');
  if (enctype === 'text/plain') return left(wrong(enctypeFrom, 'not be text/plain'));
  url.hash = '';
  return { form, submitter, url: url.href, multipart: enctype.toLowerCase() === 'multipart/form-data' };
}

/** Browsers before 2023 ignore the second argument of FormData, and know what is no button all the same. */
function takesSubmitter(): boolean {
  try {
    new FormData(document.createElement('form'), document.createElement('p'));
    return false;
  } catch {
    return true;
  }
}

/** The fields as the browser would send them, with the button that was pressed. The form's `formdata` listeners run. */
export function fieldsOf({ form, submitter }: Submission): FormData {
  if (!submitter) return new FormData(form);
  // A framework may have put another button in its place since it was pressed.
  if (submitter.form === form && takesSubmitter()) return new FormData(form, submitter);
  const fields = new FormData(form);
  if (submitter.name) fields.append(submitter.name, submitter.value);
  return fields;
}

const lines = (text: string): string => text.replace(/\r\n?|\n/g, '\r\n');

/** The body as the browser would send it. A file in a form that is not `multipart/form-data` is its name. */
export function bodyOf({ multipart }: Submission, fields: FormData): FormData | URLSearchParams {
  if (multipart) return fields;
  return new URLSearchParams([...fields].map(([name, value]) => [lines(name), lines(typeof value === 'string' ? value : value.name)]));
}
