import { type DefinedDialect, defineDialect } from './define.js';
import { inHeader } from './key-location.js';
import { onlyKnown } from './misspelled.js';

const DESCRIBED = { link: /rel\s*=\s*"?[^";]*\bdescribedby\b/i };

/**
 * Servers that follow the IETF draft to the letter, with the key as a quoted string. To a server that expects it unquoted, that would
 * be another key: use `generic` for such a server.
 *
 * Problem types are not registered, so the titles are read or, in an answer without a body, a `Link` to a description. Not known: how
 * long a key is remembered (24 h are assumed), what marks a replay, and whether a refusal is kept. In the draft fingerprints are
 * optional, so a server may answer another payload with the first one's answer; or they tell requests apart together with the key, so
 * it may execute that payload too. Then say `whenChanged: 'refuse'`.
 *
 * @see https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header-07 sections 2.1, 2.4 and 2.7
 * @see https://www.rfc-editor.org/rfc/rfc8941#section-3.3.3
 */
export const ietf = ({ windowMs, ...others }: { windowMs?: number | undefined } = {}): DefinedDialect => {
  onlyKnown('dialect ietf', others);
  return defineDialect({
    name: 'ietf',
    place: inHeader('Idempotency-Key', { quoted: true }),
    // The characters of an RFC 8941 string that need no escape.
    pattern: /^[\x21\x23-\x5b\x5d-\x7e]{1,255}$/,
    windowMs,
    answers: [
      { status: 409, at: { title: /outstanding/i }, means: 'in-progress' },
      { status: 409, headers: DESCRIBED, text: /^\s*$/, means: 'in-progress' },
      { status: 422, at: { title: /Idempotency-Key is already used/i }, means: 'mismatch' },
      { status: 422, headers: DESCRIBED, text: /^\s*$/, means: 'mismatch' },
      // The server found no key, or none that it accepts: this dialect is the wrong one for it.
      { status: 400, at: { title: /Idempotency-Key is missing/i }, means: 'refused' },
      { status: 400, headers: DESCRIBED, text: /^\s*$/, means: 'refused' },
    ],
  });
};
