/** A React app's client, and a renderer. */
import * as oncefetch from 'oncefetch';
import { renderToStaticMarkup } from 'react-dom/server';
import { show } from '../support/stage.js';

/** Node has no sessionStorage yet; a page has its own. */
const items = new Map<string, string>();
globalThis.sessionStorage ??= {
  getItem: (name: string) => items.get(name) ?? null,
  setItem: (name: string, value: string) => void items.set(name, value),
  removeItem: (name: string) => void items.delete(name),
} as Storage;

export const session = { userId: 'u-7' };
export const once = oncefetch.createOnce({ use: [oncefetch.requests()], namespace: 'u-7', keep: { request: true } });
export const cart = { id: 'c-42', total: 4200 };
export { renderToStaticMarkup, show };
