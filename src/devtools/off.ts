/** What `oncefetch/devtools` is in a production bundle: nothing. Bundlers choose it by the condition `production` of package.json. */

/** Does nothing; the result does nothing either. */
export const devtools = (): (() => void) => () => {};
