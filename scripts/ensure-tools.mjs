/**
 * Makes sure that the browsers and servers which the tests need are there. As root on Debian it installs them;
 * elsewhere it says which tests will be skipped and how to get the tools. With CI=true a missing tool is a failure.
 * Arguments name the tools to look at.
 */
import './require-node.mjs';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { browsers } from './browsers.mjs';
import { howToGet, missingOf, secondBestOf } from './executables.mjs';
import { services } from './services.mjs';

const APT = '/usr/bin/apt-get';

const tools = [
  ...browsers.map((tool, n) => ({ ...tool, tests: `the tests in ${tool.name}${n === 0 ? ', and e2e, which drives it' : ''}` })),
  ...services.map((tool) => ({ ...tool, tests: `the tests on ${tool.name}` })),
];
const asked = process.argv.slice(2);
const wanted = tools.filter(({ name }) => asked.length === 0 || asked.includes(name));
const missing = () => wanted.filter((tool) => missingOf(tool).length > 0);
const missingPackages = () => [...new Set(wanted.flatMap((tool) => [...missingOf(tool), ...secondBestOf(tool)]).map(({ debian }) => debian))];

/** @param {string[]} args */
function apt(...args) {
  console.log(`apt-get ${args.join(' ')}`);
  // In runlevel 1, packages do not start their servers. The tests start their own, on free ports.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const { status } = spawnSync(APT, ['-q', ...args], { stdio: ['ignore', 'ignore', 'inherit'], env });
  return status === 0;
}

/** @param {string[]} packages */
const install = (...packages) => apt('install', '-y', '--no-install-recommends', ...packages);

/** @returns {string | undefined} */
function whyNot() {
  if (!existsSync(APT)) return 'there is no apt-get here';
  if (process.getuid?.() !== 0) return 'only root may use apt-get';
  apt('update');
  if (install(...missingPackages())) return undefined;
  // Install the packages one by one, because one that this release does not have makes the whole command fail.
  const failed = missingPackages().filter((name) => !install(name));
  return failed.length > 0 ? `apt-get could not install ${failed.join(' and ')}` : undefined;
}

const reason = missingPackages().length > 0 ? whyNot() : undefined;
for (const tool of missing())
  console.log(`Left out: ${tool.tests}, because it is not installed (${reason ?? 'not found where it should be'}). To get it: ${howToGet(tool)}.`);
if (missing().length > 0 && process.env['CI'] === 'true') process.exitCode = 1;
