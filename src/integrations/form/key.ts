/** The key that the server renders into a form, and the next one, which a refusal brings. */
import { type Evidence, extend, type Once, type OnceOptions } from 'oncefetch';

/** The hidden field with the key, and the member of a refusal's JSON with the next one. */
export const KEY_FIELD = 'idempotency-key';

/** What the server rendered; `undefined` where it rendered none. */
export function renderedKey(form: HTMLFormElement): HTMLInputElement | undefined {
  // As the server reads the fields: the first of this name, whatever has it as its id.
  return [...form.elements].find((one): one is HTMLInputElement => one instanceof HTMLInputElement && one.name === KEY_FIELD && one.value !== '');
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
