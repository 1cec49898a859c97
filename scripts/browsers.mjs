/** The browsers in which the tests run, and where to find each. */
import { chromium } from 'playwright';
import { executablesOf } from './executables.mjs';

/** @import { Tool } from './executables.mjs' */
/** @typedef {Tool & { name: 'chromium' | 'firefox' | 'webkit' }} Browser */

export { executableOf, executablesOf, howToGet, missingOf } from './executables.mjs';

const CHROMIUMS = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  chromium.executablePath(),
];
const chosen = process.env['CHROMIUM_PATH'];

/** @type {readonly Browser[]} */
export const browsers = [
  {
    name: 'chromium',
    parts: [
      { variable: 'CHROMIUM_PATH', places: CHROMIUMS, debian: 'chromium' },
      {
        variable: 'CHROMIUM_HEADLESS_PATH',
        places: chosen ? [chosen] : ['/usr/bin/chromium-headless-shell', ...CHROMIUMS],
        debian: 'chromium-headless-shell',
        first: true,
      },
    ],
    otherwise: 'npx --no-install playwright install chromium',
  },
  {
    // Firefox as Mozilla ships it, driven by WebDriver BiDi.
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

/** @param {Browser['name']} name */
export function browserNamed(name) {
  const browser = browsers.find((one) => one.name === name);
  if (!browser) throw new TypeError(`unknown browser: ${name}`);
  return browser;
}

/**
 * Chromium without its window, for tests that need only pages: the same engine, network and storage at less than half
 * the CPU time. Falls back to the full browser if the headless one is not installed; `undefined` if neither is.
 */
export const headlessChromium = () => executablesOf(browserNamed('chromium'))?.[1];
