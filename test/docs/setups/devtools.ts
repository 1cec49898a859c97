/** A page with a client, built by Vite. */
import * as oncefetch from 'oncefetch';
import { show } from '../support/stage.js';

declare global {
  interface ImportMetaEnv {
    DEV: boolean;
  }
  interface ImportMeta {
    readonly env: ImportMetaEnv;
  }
}

export const once = oncefetch.createOnce({ namespace: 'u-7' });
export { show };
