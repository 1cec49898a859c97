/**
 * Goal: in every environment, the packed package gives the same customer the same answer, and charges once. Method:
 * React Native's own JavaScript (XMLHttpRequest, fetch, AbortController, Blob, timers) and Expo's own fetch, bundled by
 * their own Metro, in a realm that is cut down to Hermes' globals. The native modules are models, over a real server.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EXPECTED, judge } from './expected.js';
import { openShop } from './realm/shop.js';
import { bundleOf, disk, type Environment, environments, type Launched, launch } from './support.js';

let shop: Awaited<ReturnType<typeof openShop>>;
beforeAll(async () => void (shop = await openShop()));
afterAll(() => shop.close());

describe.each(environments)('$name', (environment) => {
  let app: Launched;
  beforeAll(() => void (app = launch(environment, disk())));
  afterAll(() => app.close());

  test('has all scenarios, and no others', () => expect(Object.keys(app.global.scenarios)).toEqual(Object.keys(EXPECTED)));

  test.each(Object.keys(EXPECTED))('%s', async (scenario) => {
    const id = `${environment.app}-${environment.os}-${scenario.replaceAll(' ', '-')}`;
    judge(scenario, environment.name, await app.play(app.global.scenarios[scenario], { base: shop.base, id }), shop.saw(id));
  });

  test('has a single copy of the package, the one for React Native', () => {
    const code = readFileSync(bundleOf(environment.app, environment.os), 'utf8');
    expect(code.split('oncefetch.storages')).toHaveLength(2);
    expect(code).toContain('there is no cryptographic source of random keys here');
  });
});

/** If this failed, the scenarios would say nothing about the fetch that an app has. */
describe('requests go through the native module of', () => {
  const through = async (environment: Environment, scenario: string) => {
    const app = launch(environment, disk());
    await app.play(app.global.scenarios[scenario], { base: shop.base, id: encodeURIComponent(`${environment.name} through ${scenario}`) });
    app.close();
    return [...app.through];
  };

  test.each(environments)('the fetch that is global in $name', async (environment) => {
    expect(await through(environment, 'an answer')).toEqual([environment.app.startsWith('expo') ? 'ExpoFetchModule' : 'Networking']);
  });

  test.each(environments.filter(({ app }) => app.startsWith('expo')))("React Native's own fetch, passed in, in $name", async (environment) => {
    expect(await through(environment, 'a fetch that was handed in')).toEqual(['Networking']);
  });
});
