/** Makes the bundles of one app with the Metro that comes with its React Native: `build.mjs <app> <bundles, as JSON>`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** @typedef {{ readonly entry: string, readonly platform: string, readonly out: string, readonly profile?: string, readonly standIns?: boolean }} Bundle */

const [app = '', json = '[]'] = process.argv.slice(2);
const folder = join(import.meta.dirname, '../apps', app);
process.chdir(folder);
process.env['NODE_ENV'] = 'production';
process.env['EXPO_OFFLINE'] = '1';
const expo = app.startsWith('expo');
const from = createRequire(join(folder, 'index.js'));
// npm may have installed another version of Metro beside the app.
const Metro = createRequire(from.resolve(expo ? 'expo/metro-config' : '@react-native/metro-config'))(expo ? '@expo/metro/metro' : 'metro');
const loaded = await Metro.loadConfig({ cwd: folder, config: join(folder, expo ? 'metro.config.js' : 'metro.config.cjs') });
for (const { entry, platform, out, profile = 'hermes-stable', standIns = false } of /** @type {Bundle[]} */ (JSON.parse(json))) {
  const { code } = await Metro.runBuild(loaded, {
    entry: join(folder, entry),
    platform,
    dev: false,
    minify: false,
    unstable_transformProfile: profile,
    customResolverOptions: { standIns },
  });
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, code);
}
process.exit(0);
