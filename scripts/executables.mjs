/** What the tests start and npm doesn't bring: browsers, servers. Where each is found, and what is missing. */
import { existsSync, globSync } from 'node:fs';

/**
 * @typedef {object} Tool
 * @property {string} name
 * @property {readonly Part[]} parts The first one is what is started.
 * @property {string} otherwise How to get it where there is no apt.
 */

/**
 * @typedef {object} Part
 * @property {string} variable The environment variable that names its executable.
 * @property {readonly string[]} places Patterns, tried in this order.
 * @property {string} debian The package that brings it, to the first of the places.
 * @property {boolean} [first] It is wanted from there, though one from another place will do.
 */

/** @param {Part} part */
function find({ variable, places }) {
  const chosen = process.env[variable];
  return chosen ? [chosen].find((path) => existsSync(path)) : places.flatMap((place) => (existsSync(place) ? [place] : globSync(place)))[0];
}

/** The parts of it that are not here. @param {Tool} tool */
export const missingOf = ({ parts }) => parts.filter((part) => find(part) === undefined);

/** The parts of it that are here, but not from where they are wanted. @param {Tool} tool */
export const secondBestOf = ({ parts }) =>
  parts.filter((part) => part.first && !process.env[part.variable] && find(part) !== undefined && find(part) !== part.places[0]);

/** Its executable and what else it needs, in the order of its parts; `undefined` where something is missing. @param {Tool} tool */
export function executablesOf({ parts }) {
  const found = parts.map(find).filter((path) => path !== undefined);
  return found.length === parts.length ? found : undefined;
}

/** Its executable, or `undefined` where there is none. @param {Tool} tool */
export const executableOf = (tool) => executablesOf(tool)?.[0];

/** What to do where it is missing. @param {Tool} tool */
export function howToGet(tool) {
  const missing = missingOf(tool);
  const packages = [...new Set(missing.map(({ debian }) => debian))];
  return `apt-get install ${packages.join(' ')}, or ${tool.otherwise}, or set ${missing.map(({ variable }) => variable).join(' and ')} to where it is`;
}
