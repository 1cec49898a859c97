/** The browsers that the tests run in, and where each is found. */
import { existsSync, globSync } from 'node:fs';
import { chromium } from 'playwright';

/**
 * @typedef {object} Browser
 * @property {'chromium' | 'firefox' | 'webkit'} name
 * @property {readonly Part[]} parts The first one is what is started.
 * @property {string} otherwise How to get it where there is no apt.
 */

/**
 * @typedef {object} Part
 * @property {string} variable The environment variable that names its executable.
 * @property {readonly string[]} places Patterns, tried in this order.
 * @property {string} debian The package that brings it.
 */

/** @type {readonly Browser[]} */
export const browsers = [
  {
    name: 'chromium',
    parts: [
      {
        variable: 'CHROMIUM_PATH',
        places: [
          '/usr/bin/chromium',
          '/usr/bin/chromium-browser',
          '/usr/bin/google-chrome',
          '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
          chromium.executablePath(),
        ],
        debian: 'chromium',
      },
    ],
    otherwise: 'npx --no-install playwright install chromium',
  },
  {
    // As its makers ship it, over WebDriver BiDi.
    name: 'firefox',
    parts: [{ variable: 'FIREFOX_PATH', places: ['/usr/bin/firefox-esr', '/Applications/Firefox.app/Contents/MacOS/firefox'], debian: 'firefox-esr' }],
    otherwise: 'https://www.mozilla.org/firefox/enterprise/',
  },
  {
    // WebKit as GNOME ships it; on Linux only.
    name: 'webkit',
    parts: [
      { variable: 'WEBKIT_DRIVER_PATH', places: ['/usr/bin/WebKitWebDriver'], debian: 'webkit2gtk-driver' },
      {
        variable: 'MINIBROWSER_PATH',
        places: ['/usr/lib/*/webkit2gtk-4.1/MiniBrowser', '/usr/libexec/webkit2gtk-4.1/MiniBrowser'],
        debian: 'webkit2gtk-driver',
      },
      { variable: 'XVFB_PATH', places: ['/usr/bin/Xvfb'], debian: 'xvfb' },
    ],
    otherwise: 'WebKitWebDriver, MiniBrowser and Xvfb of a Linux distribution',
  },
];

/** @param {Part} part */
function find({ variable, places }) {
  const chosen = process.env[variable];
  return chosen ? [chosen].find((path) => existsSync(path)) : places.flatMap((place) => (existsSync(place) ? [place] : globSync(place)))[0];
}

/** The parts of it that are not here. @param {Browser} browser */
export const missingOf = ({ parts }) => parts.filter((part) => find(part) === undefined);

/** Its executable and what else it needs, in the order of its parts; `undefined` where something is missing. @param {Browser} browser */
export function executablesOf({ parts }) {
  const found = parts.map(find).filter((path) => path !== undefined);
  return found.length === parts.length ? found : undefined;
}

/** Its executable, or `undefined` where there is none. @param {Browser} browser */
export const executableOf = (browser) => executablesOf(browser)?.[0];

/** @param {Browser['name']} name */
export function browserNamed(name) {
  const browser = browsers.find((one) => one.name === name);
  if (!browser) throw new TypeError(`there is no browser ${name}`);
  return browser;
}
