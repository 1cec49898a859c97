/** Removes the built-ins from a realm that React Native's engine does not have. */

/** @param {string} builtIns names of what it has, as JSON @param {readonly string[]} intl */
(builtIns, intl) => {
  /** @type {Record<string, { own?: string[], proto?: string[] }>} */
  const all = JSON.parse(builtIns);
  /** @param {object} from @param {readonly string[]} kept */
  const cut = (from, kept) => {
    for (const name of Object.getOwnPropertyNames(from)) if (!kept.includes(name)) Reflect.deleteProperty(from, name);
  };
  /** @type {Record<string, { prototype?: object } | undefined>} */
  const unnamed = {
    '%TypedArray%': Object.getPrototypeOf(Uint8Array),
    '%IteratorPrototype%': { prototype: Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]())) },
  };
  cut(globalThis, ['console', 'globalThis', 'Intl', ...Object.keys(all)]);
  cut(Intl, intl);
  for (const [name, { own, proto }] of Object.entries(all)) {
    const found = unnamed[name] ?? Reflect.get(globalThis, name);
    if (Object(found) !== found) continue;
    if (own && name !== 'console') cut(found, own);
    if (proto && found.prototype) cut(found.prototype, proto);
  }
};
