export { type OnceKyInstance, type OnceKyOptions, withOnce } from '../integrations/ky.js';
