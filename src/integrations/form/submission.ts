/** Reads what one submit would send, as the browser would (HTML standard, "form submission algorithm"). */
import { wrong } from './options.js';

export type Submitter = HTMLButtonElement | HTMLInputElement;

export interface Submission {
  readonly form: HTMLFormElement;
  readonly submitter: Submitter | undefined;
  readonly url: string;
  readonly multipart: boolean;
}

/** The value of an attribute of the pressed button or else of the form, and the attribute's name. */
function said(form: HTMLFormElement, submitter: Submitter | undefined, name: 'action' | 'method' | 'enctype' | 'target'): [string, string] {
  const own = submitter?.getAttribute(`form${name}`);
  return own == null ? [form.getAttribute(name) ?? '', name] : [own, `form${name}`];
}

const NO_ORIGIN = 'be of this origin: a sandboxed frame has none without allow-same-origin';

/** Reads a submit. If code can't send it, it is left to the browser: `undefined`, or the mistake that the developer should be told. */
export function readSubmission(form: HTMLFormElement, submitter: Submitter | undefined): Submission | TypeError | undefined {
  const [method, methodFrom] = said(form, submitter, 'method');
  if (method.toLowerCase() !== 'post') return methodFrom === 'method' ? wrong('method', 'be post', method) : undefined;
  const [target, targetFrom] = said(form, submitter, 'target');
  if (!/^(_self)?$/i.test(target)) return wrong(targetFrom, 'be absent: the answer comes to this page', target);
  const [action, actionFrom] = said(form, submitter, 'action');
  const url = new URL(action, action === '' ? document.URL : document.baseURI);
  // An action of a framework, such as React's, is left to the framework.
  if (!/^https?:$/.test(url.protocol)) return undefined;
  // A page at about:blank or about:srcdoc has the origin of whoever made it, and one in a sandboxed frame may have none. Neither's `location` tells.
  // That of the others does. Their global `origin` may be a variable of the app.
  const { origin } = globalThis;
  const here = origin === 'null' || location.origin === 'null' ? origin : location.origin;
  if (url.origin !== here) return wrong(actionFrom, origin === 'null' ? NO_ORIGIN : 'be of this origin', action);
  const [enctype, enctypeFrom] = said(form, submitter, 'enctype');
  if (enctype.toLowerCase() === 'text/plain') return wrong(enctypeFrom, 'not be text/plain');
  // Code sends UTF-8 only. With another charset, the server would get the same form in two encodings, with script and without.
  const charset = form.getAttribute('accept-charset') || document.characterSet;
  if (!/^\s*utf/i.test(charset)) return wrong('accept-charset or <meta charset>', 'be utf-8: code sends nothing else', charset);
  url.hash = '';
  return { form, submitter, url: url.href, multipart: enctype.toLowerCase() === 'multipart/form-data' };
}

/** Whether FormData takes a button as its second argument. Browsers before 2023 ignore it, and so do not throw on a wrong one. */
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
  // A framework may have replaced the button since it was pressed.
  if (submitter.form === form && takesSubmitter()) return new FormData(form, submitter);
  const fields = new FormData(form);
  if (submitter.name) fields.append(submitter.name, submitter.value);
  return fields;
}

const lines = (text: string): string => text.replace(/\r\n?|\n/g, '\r\n');

/** The body as the browser would send it. In a form that is not `multipart/form-data`, a file is sent as its name. */
export function bodyOf({ multipart }: Submission, fields: FormData): FormData | URLSearchParams {
  if (multipart) return fields;
  return new URLSearchParams([...fields].map(([name, value]) => [lines(name), lines(typeof value === 'string' ? value : value.name)]));
}

/** Calls `cancel` if the handler (`onsubmit`) of one of these targets returns false. The result puts the handlers back. */
function hearHandlers(targets: readonly EventTarget[], cancel: () => void): () => void {
  const undo = (targets as readonly (EventTarget & GlobalEventHandlers)[]).map((target) => {
    const own = target.onsubmit;
    if (!own) return () => {};
    const heard = (event: SubmitEvent): unknown => {
      const said: unknown = own.call(target, event);
      if (said === false) cancel();
      return said;
    };
    target.onsubmit = heard;
    return () => {
      if (target.onsubmit === heard) target.onsubmit = own;
    };
  });
  return () => {
    for (const one of undo) one();
  };
}

/**
 * Takes a submit over from the browser. Calls `go` when the listeners above the element have had the event, because React calls a form's
 * `onSubmit` there. Does not call it if one of these cancels the submit: by `preventDefault`, by `returnValue`, or as a handler that returns false.
 */
export function take(event: SubmitEvent, go: () => void = () => {}): void {
  let ended = false;
  const cancel = (): void => {
    ended = true;
  };
  const path = event.composedPath();
  const putBack = hearHandlers(path, cancel);
  const end = (): void => {
    putBack();
    if (ended) return;
    ended = true;
    go();
  };
  event.preventDefault();
  event.preventDefault = cancel;
  Object.defineProperty(event, 'returnValue', { get: () => false, set: (value: unknown) => value || cancel() });
  path.at(-1)?.addEventListener('submit', end, { once: true });
  // A listener may have stopped the event on its way up.
  setTimeout(end);
}
