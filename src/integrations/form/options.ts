/** The options of an app for its forms. */
import type { Once, OperationOptions } from 'oncefetch';
import type { Gestures } from './gesture.js';
import type { FormSettings, SpentKeys } from './key.js';
import { type FormMoment, type FormWords, WORDS } from './words.js';

/** Options of {@link defineOnceForm}. */
export interface FormOptions {
  /** The element's name. @default 'once-form' */
  tag?: string | undefined;
  /** Texts for the user. The attributes `says-done`, `says-unknown` … of an element take precedence, and the server's text for a refusal over those. */
  says?: FormWords | undefined;
  /** Called when a form is submitted. Returns more options for its call: `meta` for a banner, `repeat`, `keep`, `limits`. */
  call?: ((element: OnceFormElement, fields: FormData) => Omit<OperationOptions, 'operation' | 'key' | 'verdict'>) | undefined;
}

/** The element that `defineOnceForm` defines. */
export interface OnceFormElement extends HTMLElement {
  /** The attributes of these names, for frameworks that bind properties. */
  operation: string | null;
  known: string | null;
  next: string | null;
  ignore: string | null;
  /** The state of the form; `''` before anything was sent. It is also in the attribute `state`, for styles. */
  readonly state: FormMoment | '';
  /** Asks, under the same key, what became of what was sent last. It sends nothing that was not sent before. */
  check(): Promise<void>;
}

/** What all elements of one `defineOnceForm` share. */
export interface Shared {
  readonly client: Once;
  readonly settings: FormSettings;
  /** The operations, as in the attribute, that were pressed since the document was loaded, and may be done again. */
  readonly repeated: Set<string>;
  readonly options: FormOptions;
  readonly spent: SpentKeys;
  readonly gestures: Gestures;
}

const TYPES = { tag: 'string', says: 'object', call: 'function' } as const;

/** The error for a mistake in how an app uses the element. */
export const wrong = (what: string, must: string, got?: unknown): TypeError =>
  new TypeError(`once-form: ${what} must ${must}${got === undefined ? '' : `, got ${JSON.stringify(got)}`}`);

/** Throws a TypeError that names the wrong option. */
export function checkOptions(once: Once, options: FormOptions): void {
  if (typeof (once as Once | undefined)?.['~oncefetch'] !== 'function')
    throw new TypeError(`once: defineOnceForm takes a client from createOnce, got ${once && typeof once}`);
  if (typeof options !== 'object' || !options) throw wrong('its options', 'be an object', options);
  for (const [name, value] of Object.entries(options)) {
    const type = (TYPES as { readonly [name: string]: string })[name];
    if (!type) throw wrong('its options', `be ${Object.keys(TYPES).join(', ')}`, name);
    // 0 is of none of these types.
    if (value !== undefined && typeof (value ?? 0) !== type) throw wrong(`the option ${name}`, `be of type ${type}`, value);
  }
  const { tag, says } = options;
  for (const word of Object.keys(says ?? {}))
    if (!Object.hasOwn(WORDS, word)) throw wrong('the option says', `have texts for ${Object.keys(WORDS).join(', ')}`, word);
  if (tag !== undefined && !/^[a-z][a-z0-9]*-[a-z0-9-]+$/.test(tag)) throw wrong('the option tag', 'be lower case with a hyphen', tag);
}
