/**
 * Brings the browsers that the tests need. As root on Debian it installs them; elsewhere it says what is left out and
 * how to get it. With CI=true a missing browser is a failure. Names of browsers as arguments bring only those.
 */
import './require-node.mjs';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { browsers, missingOf } from './browsers.mjs';

const APT = '/usr/bin/apt-get';

const asked = process.argv.slice(2);
const wanted = browsers.filter(({ name }) => asked.length === 0 || asked.includes(name));
const missing = () => wanted.filter((browser) => missingOf(browser).length > 0);
/** @param {typeof wanted} of */
const packagesOf = (of) => [...new Set(of.flatMap(missingOf).map(({ debian }) => debian))];

/** @param {string[]} args */
function apt(...args) {
  console.log(`apt-get ${args.join(' ')}`);
  const { status } = spawnSync(APT, ['-q', ...args], { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } });
  return status === 0;
}

/** @returns {string | undefined} */
function whyNot() {
  if (!existsSync(APT)) return 'there is no apt-get here';
  if (process.getuid?.() !== 0) return 'only root may use apt-get';
  apt('update');
  // One by one: a package that this release does not have must not keep the others out.
  const failed = packagesOf(missing()).filter((name) => !apt('install', '-y', '--no-install-recommends', name));
  return failed.length > 0 ? `apt-get could not install ${failed.join(' and ')}` : undefined;
}

const reason = missing().length > 0 ? whyNot() : undefined;
for (const browser of missing()) {
  const { name, otherwise } = browser;
  const tests = name === browsers[0]?.name ? `the tests in ${name}, and e2e, which drives it` : `the tests in ${name}`;
  const variables = missingOf(browser).map(({ variable }) => variable);
  console.log(
    `Left out: ${tests}; there is none here (${reason ?? 'not where it should be'}). ` +
      `To get it: apt-get install ${packagesOf([browser]).join(' ')}, or ${otherwise}, or set ${variables.join(' and ')} to where it is.`,
  );
}
if (missing().length > 0 && process.env['CI'] === 'true') process.exitCode = 1;
