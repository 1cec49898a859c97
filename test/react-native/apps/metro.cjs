/** The common configuration of the apps' bundlers: where the packed package is, and one React Native per app. */
const { dirname, join } = require('node:path');

const here = dirname(__dirname);
const root = join(here, '../..');
const packed = join(root, '.tmp/react-native');
const example = join(root, 'playground/react-native');
const REACT = /^(react|react-native)(\/|$)/;
/** Stand-ins for the example's native packages, for rendering its screen without a phone. */
const STAND_INS = { 'react-native': 'react-native', 'expo-crypto': 'crypto', 'expo-sqlite/kv-store': 'kv-store', '@react-native-community/netinfo': 'netinfo' };

exports.adapted = (config, app) => ({
  ...config,
  projectRoot: app,
  watchFolders: [here, join(packed, 'node_modules'), example],
  reporter: { update() {} },
  maxWorkers: 2,
  resolver: {
    ...config.resolver,
    // The last folder is for Expo's own packages, which npm puts beneath Expo because there are other apps. In a project
    // with a single app they are at the top.
    nodeModulesPaths: [join(packed, 'node_modules'), join(app, 'node_modules'), join(here, 'node_modules'), join(app, 'node_modules/expo/node_modules')],
    // Packages that npm has put above the apps must not find another app's React.
    resolveRequest(context, name, platform) {
      const { customResolverOptions, originModulePath } = context;
      if (customResolverOptions.standIns && originModulePath.startsWith(example) && Object.hasOwn(STAND_INS, name))
        return { type: 'sourceFile', filePath: join(here, 'realm/stand-ins', `${STAND_INS[name]}.ts`) };
      return context.resolveRequest(REACT.test(name) ? { ...context, originModulePath: join(app, 'index.js') } : context, name, platform);
    },
  },
});
