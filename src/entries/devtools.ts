export { type DevtoolsOptions, devtools } from '../devtools/devtools.js';
