/** One bundle of one app, by the Metro that comes with its React Native: `build.mjs <app> <platform> <entry> <out> [profile]`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const [app = '', platform = 'ios', entry = 'index.js', out = '', profile = 'hermes-stable'] = process.argv.slice(2);
const folder = join(import.meta.dirname, '../apps', app);
process.chdir(folder);
process.env.NODE_ENV = 'production';
process.env.EXPO_OFFLINE = '1';
const from = createRequire(join(folder, 'index.js'));
const config = from.resolve(app.startsWith('expo') ? 'expo/metro-config' : '@react-native/metro-config');
// npm may have put another version of Metro beside the app.
const Metro = createRequire(config)(app.startsWith('expo') ? '@expo/metro/metro' : 'metro');
const loaded = await Metro.loadConfig({ cwd: folder, config: join(folder, app.startsWith('expo') ? 'metro.config.js' : 'metro.config.cjs') });
const { code } = await Metro.runBuild(loaded, { entry: join(folder, entry), platform, dev: false, minify: false, unstable_transformProfile: profile });
mkdirSync(dirname(out), { recursive: true });
writeFileSync(out, code);
process.exit(0);
