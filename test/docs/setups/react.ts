/** A React app's client, and a renderer. */
import * as oncefetch from 'oncefetch';
import { renderToStaticMarkup } from 'react-dom/server';
import { show } from '../support/stage.js';

export const session = { userId: 'u-7' };
export const once = oncefetch.createOnce({ namespace: 'u-7', keep: { request: true } });
export const cart = { id: 'c-42', total: 4200 };
export { renderToStaticMarkup, show };
