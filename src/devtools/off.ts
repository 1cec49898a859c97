/** Replaces `oncefetch/devtools` in production bundles by nothing. Bundlers choose this file by the condition `production` in package.json. */

/** Does nothing; the result does nothing either. */
export const devtools = (): (() => void) => () => {};
