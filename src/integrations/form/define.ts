/** Defines `<once-form>`: a plain form in it takes effect once. */
import { namespace, type Once } from 'oncefetch';
import { withForm } from './attributes.js';
import { FormController } from './controller.js';
import { gestures } from './gesture.js';
import { clientForForms, SpentKeys } from './key.js';
import { pageBegan } from './known.js';
import { checkOptions, type FormOptions, type OnceFormElement } from './options.js';
import type { FormMoment } from './words.js';

const TAG = 'once-form';

/** For how long an element waits for its name before it reports that it has none. */
const NAME_MS = 1000;

/**
 * Defines the element `<once-form operation="pay c-42">`. The client sends the form in it, so that it takes effect once. Without script
 * the browser sends it, with the key that the server rendered. On a server this function does nothing.
 *
 * @throws TypeError on a wrong option, or if the element's name is taken
 * @example
 * defineOnceForm(createOnce({ namespace: customer }));
 */
export function defineOnceForm(once: Once, options: FormOptions = {}): void {
  checkOptions(once, options);
  const { tag = TAG } = options;
  if (!('customElements' in globalThis)) return;
  if (customElements.get(tag)) throw new TypeError(`once-form: <${tag}> is defined already; give the option tag`);
  const page = { defines: true, began: pageBegan() };
  customElements.define(tag, elementFor(once, options, page));
  page.defines = false;
}

/** Attributes that the element also has as properties, because Angular and Solid set a property where a value is bound. */
const BOUND = ['operation', 'known', 'next', 'ignore'] as const;

/**
 * A property that reflects the attribute of this name. Like frameworks that write the attribute themselves, it removes the attribute for `null`,
 * `undefined` and `false`, so that these words never become the name of an operation.
 */
const property = (name: string): PropertyDescriptor & ThisType<Element> => ({
  get() {
    return this.getAttribute(name);
  },
  set(value: unknown) {
    if (value == null || value === false) this.removeAttribute(name);
    else this.setAttribute(name, value === true ? '' : String(value));
  },
});

/** Takes over the properties that were set before the element was defined, which hide those of the class. */
function takeOver(element: OnceFormElement): void {
  for (const name of BOUND) {
    if (!Object.hasOwn(element, name)) continue;
    const value = element[name];
    Reflect.deleteProperty(element, name);
    element[name] = value;
  }
}

/**
 * Makes the class of the element. It is made in a function, because outside of pages there is no HTMLElement. `page.defines`: the browser is
 * upgrading the elements that the page had before its script ran. `page.began`: when it began, as it was known then.
 */
function elementFor(once: Once, options: FormOptions, page: { readonly defines: boolean; readonly began: number }): new () => OnceFormElement {
  const spent = new SpentKeys();
  const shared = { ...clientForForms(once, spent), options, spent, repeated: new Set<string>(), gestures: gestures() };
  const { client, settings } = shared;
  const mayRepeat = settings.repeat !== 'never' || !!options.call;
  class OnceForm extends HTMLElement implements OnceFormElement {
    declare operation: string | null;
    declare known: string | null;
    declare next: string | null;
    declare ignore: string | null;

    static get observedAttributes(): readonly string[] {
      return ['operation', 'known', 'state'];
    }

    readonly #form: FormController = new FormController(this, shared);
    /** Set while it has no name yet: Angular's router inserts an element frames before it binds the attributes. */
    #waits: ReturnType<typeof setTimeout> | undefined;

    constructor() {
      super();
      this.addEventListener('submit', (event) => this.#form.submitted(event));
      for (const type of ['input', 'change']) this.addEventListener(type, ({ target }) => this.#form.edited(target));
    }

    get state(): FormMoment | '' {
      return this.#form.moment;
    }

    check(): Promise<void> {
      return this.#form.check();
    }

    connectedCallback(): void {
      takeOver(this);
      shared.gestures.hear(this.ownerDocument.defaultView);
      if (this.hasAttribute('operation')) this.#begin();
      else this.#waits = setTimeout(() => this.#begin(), NAME_MS);
    }

    #begin(): void {
      clearTimeout(this.#waits);
      this.#waits = undefined;
      withForm(this, () => this.#form.connect());
    }

    attributeChangedCallback(attribute: string, _before: string | null, now: string | null): void {
      if (attribute === 'state') {
        // The element did not write this: a framework is morphing the page, first the element, then its children. Repair both in a microtask, which
        // runs when the framework has finished.
        if ((now ?? '') !== this.state) queueMicrotask(() => this.isConnected && this.#form.again());
        return;
      }
      if (attribute === 'known') {
        const loading = page.defines || document.readyState !== 'complete';
        this.#form.known.rendered(this, namespace(client), loading || this.isConnected, loading || mayRepeat ? Math.min(page.began, pageBegan()) : Date.now());
      }
      if (this.#waits && attribute === 'operation') this.#begin();
      else this.#form.changed();
    }

    disconnectedCallback(): void {
      // An element that is moved waits for its name anew.
      clearTimeout(this.#waits);
      this.#form.disconnect();
    }
  }
  for (const name of BOUND) Object.defineProperty(OnceForm.prototype, name, property(name));
  return OnceForm;
}
