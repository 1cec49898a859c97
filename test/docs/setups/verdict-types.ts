/** A hook that stands alone. */
export { show } from '../support/stage.js';
