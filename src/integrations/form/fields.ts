/** Shows a server's errors at their fields, by `aria-invalid` and a text that describes the field. */

/** Marks the texts that the element has written, so that a copy of the element can remove them. */
export const SAID = 'data-once-said';

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

interface FieldError {
  readonly name: string;
  readonly message: string;
}

const text = (value: unknown): string => (Array.isArray(value) ? value.map(String).join(' ') : typeof value === 'string' ? value : '');

/** `#/card` of a JSON pointer, as a field's name. */
const nameOf = (pointer: string): string => pointer.replace(/^#?\//, '').replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~');

/** The `errors` of a refusal: `[{ pointer, detail }]` (RFC 9457), `[{ name, message }]`, or texts by name. */
function fieldErrors(answer: unknown): readonly FieldError[] {
  const { errors } = Object(answer) as { readonly errors?: unknown };
  if (typeof errors !== 'object') return [];
  const found = Array.isArray(errors)
    ? errors.map((one: unknown) => {
        const { pointer, name, field, detail, message } = Object(one) as Readonly<Record<string, unknown>>;
        return { name: nameOf(text(pointer ?? name ?? field)), message: text(detail ?? message) };
      })
    : Object.entries(errors ?? {}).map(([name, value]) => ({ name, message: text(value) }));
  return found.filter(({ message }) => message);
}

/** The fields of a form. Calls the getter of the prototype, because `form.elements` may be a field of that name. */
export const fieldsIn = (form: HTMLFormElement): readonly Element[] => [...(Reflect.get(HTMLFormElement.prototype, 'elements', form) as Iterable<Element>)];

const isEditable = (control: Node | null): control is Control =>
  control instanceof HTMLInputElement ? control.type !== 'hidden' : control instanceof HTMLSelectElement || control instanceof HTMLTextAreaElement;

/**
 * The first control with this name or id that a customer can change. `namedItem` won't do: WebKit's misses fields that are added later and belong
 * to the form by their attribute `form`.
 */
const controlOf = (form: HTMLFormElement, name: string): Control | undefined =>
  name
    ? fieldsIn(form)
        .filter(isEditable)
        .find((control) => control.name === name || control.id === name)
    : undefined;

let ids = 0;

/** The app's own element for the field's errors, or a new one after the field. If a label contains the field, after the label, whose text names the field. */
function placeFor(form: HTMLFormElement, control: Control): { readonly place: HTMLElement; readonly made: boolean } {
  const own = [...form.querySelectorAll<HTMLElement>('[data-error-for]')].find(({ dataset }) => dataset['errorFor'] === control.name);
  if (own) return { place: own, made: false };
  const place = document.createElement('span');
  place.dataset['errorFor'] = control.name;
  (control.closest('label') ?? control).after(place);
  return { place, made: true };
}

const described = (control: Element): readonly string[] => (control.getAttribute('aria-describedby') ?? '').split(/\s+/).filter(Boolean);

/** The errors that a form shows. */
export class FieldErrors {
  readonly #shown = new Map<string, () => void>();

  /** Shows the errors whose fields exist. `first`: the first of these fields; `rest`: the texts of the other errors. */
  show(form: HTMLFormElement, answer: unknown): { readonly first: Control | undefined; readonly rest: readonly string[] } {
    const rest: string[] = [];
    const controls: Control[] = [];
    for (const { name, message } of fieldErrors(answer)) {
      const control = controlOf(form, name);
      if (!control) rest.push(message);
      else if (!this.#shown.has(control.name)) {
        controls.push(control);
        this.#shown.set(control.name, attach(form, control, message));
        // A field that belongs to the form by its attribute `form` may be outside of the element.
        control.addEventListener('input', () => this.clear(control.name), { once: true });
      }
    }
    const [first] = controls.sort((a, b) => (a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1));
    return { first, rest };
  }

  edited(target: EventTarget | null): void {
    if (target instanceof Element && 'name' in target) this.clear(String(target.name));
  }

  /** Removes the error of one field, or all errors. */
  clear(name?: string): void {
    for (const [of, detach] of [...this.#shown]) {
      if (name !== undefined && of !== name) continue;
      this.#shown.delete(of);
      detach();
    }
  }
}

/** Removes from a copied element the errors that were shown in the original. */
export function removeCopiedErrors(host: HTMLElement): void {
  for (const place of host.querySelectorAll<HTMLElement>(`[data-error-for][${SAID}]`)) {
    for (const control of host.querySelectorAll(`[aria-describedby~="${place.id}"]`)) detach(control, place, null);
  }
}

function attach(form: HTMLFormElement, control: Control, message: string): () => void {
  const { place, made } = placeFor(form, control);
  const id = place.id || `once-error-${++ids}`;
  place.id = id;
  place.textContent = message;
  place.setAttribute(SAID, made ? 'made' : '');
  const before = control.getAttribute('aria-invalid');
  control.setAttribute('aria-invalid', 'true');
  control.setAttribute('aria-describedby', [...described(control), id].join(' '));
  return () => detach(control, place, before);
}

export function setOrRemove(element: Element | null, attribute: string, value: string): void {
  if (value) element?.setAttribute(attribute, value);
  else element?.removeAttribute(attribute);
}

/** Removes an error. `before`: the earlier value of `aria-invalid`. */
function detach(control: Element, place: HTMLElement, before: string | null): void {
  if (place.getAttribute(SAID) === 'made') place.remove();
  else place.textContent = '';
  place.removeAttribute(SAID);
  if (before === null) control.removeAttribute('aria-invalid');
  else control.setAttribute('aria-invalid', before);
  const others = described(control).filter((one) => one !== place.id);
  setOrRemove(control, 'aria-describedby', others.join(' '));
}
