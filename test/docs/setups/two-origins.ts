/** A page, and its API on another origin. */
import * as oncefetch from 'oncefetch';
import { shop, show } from '../support/stage.js';

export const { createOnce } = oncefetch;
export const api = shop().origin.replace('127.0.0.1', 'localhost');
export const keysThatArrived = (): boolean[] => shop().arrived.map((headers) => headers['idempotency-key'] !== undefined);
export { show };
