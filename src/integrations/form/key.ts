/** The key that the server renders into a form, and the next one, which a refusal brings. */
import { type Evidence, extend, type Once, type OnceOptions } from 'oncefetch';

/** The hidden field with the key, and the member of a refusal's JSON with the next one. */
export const KEY_FIELD = 'idempotency-key';

/** What the server rendered; `undefined` where it rendered none. */
export function renderedKey(form: HTMLFormElement): HTMLInputElement | undefined {
  // As the server reads the fields: the first of this name, whatever has it as its id.
  return [...form.elements].find((one): one is HTMLInputElement => one instanceof HTMLInputElement && one.name === KEY_FIELD && one.value !== '');
}

/** Keys that are used up, each with the one that counts now: a framework may render the first one again. */
export class SpentKeys {
  readonly #next = new Map<string, string>();

  /** The form goes out under this key from now on. */
  replace(field: HTMLInputElement, next: string): void {
    for (const [spent, key] of this.#next) if (key === field.value) this.#next.set(spent, next);
    this.#next.set(field.value, next);
    this.#next.delete(next);
    field.value = next;
  }

  /** Puts the key that counts into a form that bears a spent one. */
  renew(form: HTMLFormElement): void {
    const field = renderedKey(form);
    if (field) field.value = this.#next.get(field.value) ?? field.value;
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
export function clientForForms(once: Once): { readonly client: Once; readonly fingerprints: boolean } {
  const { settings } = once['~oncefetch']() as { readonly settings: Pick<OnceOptions, 'verdict' | 'fingerprint'> };
  const verdict = (evidence: Evidence) => {
    const { status, json } = evidence;
    return settings.verdict?.(evidence) ?? (status >= 400 && status < 500 && nextKey(json) !== undefined ? 'rejected-for-good' : undefined);
  };
  return { client: extend(once, { verdict }), fingerprints: settings.fingerprint !== undefined };
}
