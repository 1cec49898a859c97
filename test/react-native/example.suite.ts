/**
 * Goal: the example app works, and its customer is charged once. Method: checks its types against the packages
 * themselves, bundles it with Metro, and renders its screen on Expo's JavaScript. The test reads the screen, presses
 * its buttons, kills it and opens it again.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openShop } from './realm/shop.js';
import { bundleOf, type Disk, disk, launch } from './support.js';

const here = import.meta.dirname;
const root = join(here, '../..');
const example = join(root, 'playground/react-native');
const app = join(here, 'apps/expo-57');
const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as { dependencies: Record<string, string> };

test('the example depends on the versions that are tested', () => {
  const { oncefetch, ...wanted } = readJson(join(example, 'package.json')).dependencies;
  expect(oncefetch).toBe('file:../..');
  expect(readJson(join(app, 'package.json')).dependencies).toEqual(wanted);
});

test('the example has no type errors', () => {
  const { config } = ts.readConfigFile(join(example, 'tsconfig.json'), ts.sys.readFile) as { config: object };
  const { options, fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, example);
  // Resolves its packages as if they were installed beside it.
  const host = ts.createCompilerHost(options);
  const cache = ts.createModuleResolutionCache(root, (name) => name, options);
  const beside = (from: string) => (from.startsWith(example) ? join(app, 'index.ts') : from);
  host.resolveModuleNameLiterals = (literals, from) =>
    literals.map(({ text }) => {
      const inside = text === 'oncefetch' || text.startsWith('oncefetch/');
      const containing = inside ? join(root, '.tmp/react-native/index.ts') : text.startsWith('.') ? from : beside(from);
      return ts.resolveModuleName(text, containing, options, host, cache);
    });
  const program = ts.createProgram(fileNames, options, host);
  const found = [
    ...program.getOptionsDiagnostics(),
    ...program.getGlobalDiagnostics(),
    ...fileNames.flatMap((name) => ts.getPreEmitDiagnostics(program, program.getSourceFile(name))),
  ];
  expect(found.map(({ file, messageText }) => `${file?.fileName.slice(example.length + 1)}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`)).toEqual(
    [],
  );
}, 120_000);

test.each(['ios', 'android'] as const)('Metro bundles the example for %s, with one copy of the package', (os) => {
  const code = readFileSync(bundleOf('example', os), 'utf8');
  expect(code).toContain('is still being confirmed');
  expect(code.split('oncefetch.storages')).toHaveLength(2);
});

const BANNER = 'Your payment of €42.00 is still being confirmed.';
const OPENED = 'Order o-42: €42.00';

describe.each(['axios', 'ky'])('its checkout, with %s', (client) => {
  let shop: Awaited<ReturnType<typeof openShop>>;
  beforeAll(async () => void (shop = await openShop()));
  afterAll(() => shop.close());

  /** Opens the app. `path` is the fault that its requests meet. `about` becomes part of the id by which the shop tells tests apart. */
  const open = async (path: string, pairs: Disk, about = path) => {
    const id = `${client}-${about.replaceAll(/\W/g, '')}`;
    const toShop = (code: string) => code.replaceAll('https://api.shop.example', `${shop.base}/${path}/${id}`);
    const { global, close } = launch({ name: 'checkout', app: 'expo-57', os: 'ios', bundle: 'checkout' }, pairs, Number.POSITIVE_INFINITY, toShop);
    const { checkout } = global;
    checkout.open();
    const texts = () => [...checkout.texts()];
    const says = (text: string) => expect.poll(texts, { timeout: 20_000 }).toContain(text);
    const saw = () => {
      const { requests, charges, keys } = shop.saw(id);
      return { requests, charges, keys: keys.size };
    };
    await says(OPENED);
    return { ...checkout, pay: () => checkout.press(`Pay (${client})`), texts, says, saw, close };
  };

  test('two taps on Pay: one charge', async () => {
    const app = await open('slow', disk());
    app.pay();
    app.pay();
    await app.says('Paid.');
    expect(app.saw()).toEqual({ requests: 1, charges: 1, keys: 1 });
    app.close();
  });

  test('declined: nothing was charged, and there is no banner', async () => {
    const app = await open('declined', disk());
    app.pay();
    await app.says('Not paid. Nothing was charged.');
    expect(app.texts()).not.toContain(BANNER);
    expect(app.saw()).toEqual({ requests: 1, charges: 0, keys: 1 });
    app.close();
  });

  test.each(['Check', `Pay (${client})`])('killed while it pays: a banner after the relaunch, which %s ends, with one charge', async (button) => {
    const pairs = disk();
    const first = await open('hang', pairs, button);
    expect(first.texts()).not.toContain(BANNER);
    first.pay();
    await first.says('One moment…');
    expect(first.texts()).not.toContain(BANNER);
    await expect.poll(() => first.saw().charges).toBe(1);
    first.close();

    const again = await open('hang', pairs, button);
    await again.says(BANNER);
    again.press(button);
    await again.says('Paid.');
    expect(again.texts()).not.toContain(BANNER);
    expect(again.saw()).toEqual({ requests: 2, charges: 1, keys: 1 });
    again.close();
  });
});
