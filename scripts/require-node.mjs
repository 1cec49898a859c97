/** Stops on an old Node with a clear error, before some tool fails with an obscure one. Imported for its side effect; runs on any Node. */
const [major = 0] = process.versions.node.split('.').map(Number);
if (major < 24) {
  throw new Error(
    `This is Node ${process.version}; tests and tools need Node 24, which comes as a development dependency. ` +
      'Run them with `npm run` or `npx --no-install`. If you did: was it installed with --ignore-scripts? Then `npm rebuild node`.',
  );
}
