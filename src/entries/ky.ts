export { withOnce } from '../integrations/ky.js';
