/** What bundlers for React Native get for `oncefetch` and for `oncefetch/react-native`: one file, so that an app has one copy. */
export * from './entries/index.js';
export * from './entries/react-native.js';
export { createOnce } from './react-native.js';
