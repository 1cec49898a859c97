/** Programs that the tests start and npm does not install: browsers and servers. Finds each one, and says which are missing. */
import { existsSync, globSync } from 'node:fs';

/**
 * @typedef {object} Tool
 * @property {string} name
 * @property {readonly Part[]} parts The tests start the first one.
 * @property {string} otherwise How to get the tool on a system without apt.
 */

/**
 * @typedef {object} Part
 * @property {string} variable The environment variable that names its executable.
 * @property {readonly string[]} places Patterns, tried in this order.
 * @property {string} debian The package that installs it, in the first of the places.
 * @property {boolean} [first] Whether the one in the first place is preferred, although another one will do.
 */

/** @param {Part} part */
function find({ variable, places }) {
  const chosen = process.env[variable];
  return chosen ? [chosen].find((path) => existsSync(path)) : places.flatMap((place) => (existsSync(place) ? [place] : globSync(place)))[0];
}

/** The parts of a tool that are not installed. @param {Tool} tool */
export const missingOf = ({ parts }) => parts.filter((part) => find(part) === undefined);

/** The parts of a tool that are installed, but not in the preferred place. @param {Tool} tool */
export const secondBestOf = ({ parts }) =>
  parts.filter((part) => part.first && !process.env[part.variable] && find(part) !== undefined && find(part) !== part.places[0]);

/** The executables of a tool, in the order of its parts, or `undefined` if one is missing. @param {Tool} tool */
export function executablesOf({ parts }) {
  const found = parts.map(find).filter((path) => path !== undefined);
  return found.length === parts.length ? found : undefined;
}

/** The executable of a tool, or `undefined` if a part is missing. @param {Tool} tool */
export const executableOf = (tool) => executablesOf(tool)?.[0];

/** How to get a tool that is missing. @param {Tool} tool */
export function howToGet(tool) {
  const missing = missingOf(tool);
  const packages = [...new Set(missing.map(({ debian }) => debian))];
  return `apt-get install ${packages.join(' ')}, or ${tool.otherwise}, or set ${missing.map(({ variable }) => variable).join(' and ')} to where it is`;
}
