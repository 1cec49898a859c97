/** The key that the server renders into a form, and the next key, which an answer may bring. */
import { type Evidence, extend, hooks, type Once, type OnceOptions } from 'oncefetch';
import { fieldsIn } from './fields.js';

/** The client's own options that forms need. */
export type FormSettings = Pick<OnceOptions, 'verdict' | 'fingerprint' | 'reconcile' | 'repeat'>;

/** The name of the hidden field with the key, and of the member of an answer's JSON with the next one. */
export const KEY_FIELD = 'idempotency-key';

/** The field with the key that the server rendered; `undefined` if there is none. */
export function renderedKey(form: HTMLFormElement): HTMLInputElement | undefined {
  // The first field with this name, as the server would read it. `elements.namedItem` would also find one with this id.
  return fieldsIn(form).find((one): one is HTMLInputElement => one instanceof HTMLInputElement && one.name === KEY_FIELD && !!one.value);
}

/** Where the pages of an origin store keys that were refused: only keys, without names of users or operations. */
const STORED = 'once-form/refused-keys';
const STORED_MAX = 50;

function storedKeys(): Map<string, string> {
  try {
    return new Map(JSON.parse(localStorage.getItem(STORED) ?? '[]') as [string, string][]);
  } catch {
    return new Map();
  }
}

/** Keys that are used up, each with the key that replaces it: a framework, the browser's cache or another tab may still show the old one. */
export class SpentKeys {
  /** Keys under which this page has sent something. A refusal that names one of these only says which request it is about: that is not a next key. */
  readonly sent = new Set<string>();
  readonly #here = new Map<string, string>();

  /**
   * From now on the form is sent under `next` instead of `spent`. If `spent` was refused, the same holds in other tabs. If it has taken
   * effect, other tabs keep it: if they share no store with this page, only the server's answer to that key can tell them that it is done.
   */
  replace(spent: string, next: string, refused: boolean): void {
    if (spent === next) return;
    this.#here.set(spent, next).delete(next);
    if (!refused) return;
    const stored = storedKeys().set(spent, next);
    stored.delete(next);
    try {
      localStorage.setItem(STORED, JSON.stringify([...stored].slice(-STORED_MAX)));
    } catch {
      // The storage is full or not allowed. Then another tab that sends the old key will say that its page must be loaded again.
    }
  }

  /** The key that replaces this one; the same if none does. */
  current(rendered: string): string {
    const all = new Map([...storedKeys(), ...this.#here]);
    let key = rendered;
    for (let steps = all.size; steps > 0; steps--) key = all.get(key) ?? key;
    return key;
  }

  /** Like {@link current}, for a request that is about to be sent. */
  keyToSend(rendered: string): string {
    const key = this.current(rendered);
    this.sent.add(key);
    return key;
  }

  /** Replaces a used-up key in a form. */
  renew(form: HTMLFormElement): void {
    const field = renderedKey(form);
    if (!field) return;
    const key = this.current(field.value);
    // Set the attribute, not the property. Firefox restores a hidden field whose property was set, even if the reloaded page is for another order:
    // that order would be sent under this key, and the server would give it the answer to this one.
    field.defaultValue = key;
    // The value of a field that is not hidden does not follow its attribute once it was changed.
    if (field.value !== key) field.value = key;
  }
}

/** The next key in an answer, if any. By giving one, the server says that the key before it is used up. */
export function nextKey(answer: unknown): string | undefined {
  const { [KEY_FIELD]: next } = Object(answer) as Record<string, unknown>;
  return typeof next === 'string' && next ? next : undefined;
}

/**
 * The client for forms. A rendered key may have been sent before, without script, so a refusal proves nothing by itself
 * (docs/decisions/0007-only-random-keys-are-clean.md). But a refusal that brings the next key is final for the key before it.
 */
export function clientForForms(once: Once, { sent }: SpentKeys): { readonly client: Once; readonly settings: FormSettings } {
  const { settings } = once['~oncefetch']() as { readonly settings: FormSettings };
  const verdict = (evidence: Evidence) => {
    const { status, json } = evidence;
    const next = status >= 400 && status < 500 ? nextKey(json) : undefined;
    return settings.verdict?.(evidence) ?? (next && !sent.has(next) ? 'rejected-for-good' : undefined);
  };
  return { client: extend(once, { use: [hooks()], verdict }), settings };
}
