/** A page whose access token changes all the time. */
import * as oncefetch from 'oncefetch';
import { shop, show } from '../support/stage.js';

export const { createOnce } = oncefetch;
export const session = { userId: 'anna' };
let tokens = 0;
export const accessToken = async (): Promise<string> => `t-${++tokens}`;
export { shop, show };
