/** The key that the server renders into a form, and the next one, which a refusal brings. */
import { type Evidence, extend, type Once, type OnceOptions } from 'oncefetch';

/** The hidden field with the key, and the member of a refusal's JSON with the next one. */
export const KEY_FIELD = 'idempotency-key';

/** What the server rendered; `undefined` where it rendered none. */
export function renderedKey(form: HTMLFormElement): HTMLInputElement | undefined {
  // As the server reads the fields: the first of this name, whatever has it as its id.
  return [...form.elements].find((one): one is HTMLInputElement => one instanceof HTMLInputElement && one.name === KEY_FIELD && one.value !== '');
}

/** Where pages of an origin find the keys that were refused: keys alone, of nobody's name. */
const STORED = 'once-form/refused-keys';
const STORED_MAX = 50;

function storedKeys(): Map<string, string> {
  try {
    return new Map(JSON.parse(localStorage.getItem(STORED) ?? '[]') as [string, string][]);
  } catch {
    return new Map();
  }
}

/** Keys that are used up, each with the one that counts now: a framework, the browser's cache or another tab may show the first one. */
export class SpentKeys {
  /** Keys that something of this page goes out under: a server that names such a one says of what it speaks, and brings no next one. */
  readonly sent = new Set<string>();
  readonly #here = new Map<string, string>();

  /**
   * From now on the form goes out under `next`, and in other tabs too if the key before it was refused. One that has done
   * something stays theirs: where they share no store with this page, only the server can tell them so.
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
      // Full, or closed to this page: whoever presses in another tab is told to load it again.
    }
  }

  /** The key that counts in place of this one. */
  current(rendered: string): string {
    const all = new Map([...storedKeys(), ...this.#here]);
    let key = rendered;
    for (let steps = all.size; steps > 0; steps--) key = all.get(key) ?? key;
    return key;
  }

  /** The key that counts in place of this one, for something that goes out now. */
  keyToSend(rendered: string): string {
    const key = this.current(rendered);
    this.sent.add(key);
    return key;
  }

  /** Puts the key that counts into a form that bears a spent one. */
  renew(form: HTMLFormElement): void {
    const field = renderedKey(form);
    if (field) field.value = this.current(field.value);
  }
}

/** The key for the corrected form. A server that gives one says that the key before it is used up. */
export function nextKey(answer: unknown): string | undefined {
  const next = typeof answer === 'object' && answer !== null ? (answer as Record<string, unknown>)[KEY_FIELD] : undefined;
  return typeof next === 'string' && next !== '' ? next : undefined;
}

/**
 * The client for forms. A rendered key may have been sent before, without script, so a refusal proves nothing by itself
 * (docs/decisions/0007-only-random-keys-are-clean.md); one that brings the next key is the last word on the key before it.
 */
export function clientForForms(once: Once, { sent }: SpentKeys): { readonly client: Once; readonly fingerprints: boolean } {
  const { settings } = once['~oncefetch']() as { readonly settings: Pick<OnceOptions, 'verdict' | 'fingerprint'> };
  const verdict = (evidence: Evidence) => {
    const { status, json } = evidence;
    const next = status >= 400 && status < 500 ? nextKey(json) : undefined;
    return settings.verdict?.(evidence) ?? (next !== undefined && !sent.has(next) ? 'rejected-for-good' : undefined);
  };
  return { client: extend(once, { verdict }), fingerprints: settings.fingerprint !== undefined };
}
