/** The browsers that the tests run in, and where each is found. */
import { existsSync } from 'node:fs';
import { chromium } from 'playwright';

/**
 * @typedef {object} Browser
 * @property {'chromium'} name
 * @property {string} variable The environment variable that names its executable.
 * @property {readonly string[]} places Tried in this order.
 * @property {string} debian The package that brings it.
 * @property {string} otherwise How to get it elsewhere.
 */

/** @type {readonly Browser[]} */
export const browsers = [
  {
    name: 'chromium',
    variable: 'CHROMIUM_PATH',
    places: [
      '/usr/bin/chromium',
      '/usr/bin/chromium-browser',
      '/usr/bin/google-chrome',
      '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
      chromium.executablePath(),
    ],
    debian: 'chromium',
    otherwise: 'npx --no-install playwright install chromium',
  },
];

/** The executable, or `undefined` where there is none. @param {Browser} browser */
export function executableOf({ variable, places }) {
  const chosen = process.env[variable];
  return (chosen ? [chosen] : places).find((path) => existsSync(path));
}
