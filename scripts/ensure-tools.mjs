/**
 * Brings the browsers that the tests need. As root on Debian it installs them; elsewhere it says what is left out and
 * how to get it. With CI=true a missing browser is a failure.
 */
import './require-node.mjs';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { browsers, executableOf } from './browsers.mjs';

const APT = '/usr/bin/apt-get';

const missing = () => browsers.filter((browser) => executableOf(browser) === undefined);

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
  return apt('install', '-y', '--no-install-recommends', ...missing().map(({ debian }) => debian)) ? undefined : 'apt-get failed';
}

const reason = missing().length > 0 ? whyNot() : undefined;
for (const { name, debian, variable, otherwise } of missing()) {
  const tests = name === browsers[0]?.name ? `the tests in ${name}, and e2e, which drives it` : `the tests in ${name}`;
  console.log(
    `Left out: ${tests}; there is none here (${reason ?? 'not where it should be'}). ` +
      `To get it: apt-get install ${debian}, or ${otherwise}, or set ${variable} to its executable.`,
  );
}
if (missing().length > 0 && process.env['CI'] === 'true') process.exitCode = 1;
