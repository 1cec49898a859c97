/**
 * Goal: these suites would fail if the core used a function that some React Native lacks. Method: puts each such
 * function into the packed core, where it makes keys or sends, and runs the core where that function is missing. The
 * unchanged core is the control.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openShop } from './realm/shop.js';
import { disk, environments, launch } from './support.js';

let shop: Awaited<ReturnType<typeof openShop>>;
beforeAll(async () => void (shop = await openShop()));
afterAll(() => shop.close());

const KEY = 'made = own();';
const SENDS = 'var controller = new AbortController();';
/** By missing function: the change that makes the core use it, and the apps that lack it. */
const CONTROLS = {
  'crypto.randomUUID': { from: KEY, to: 'made = crypto.randomUUID();', missing: ['0.81', '0.86', '0.88', 'expo-57'] },
  // Expo provides AbortSignal.timeout.
  'AbortSignal.timeout': { from: SENDS, to: `${SENDS} AbortSignal.timeout(1000);`, missing: ['0.81', '0.86'] },
  throwIfAborted: { from: SENDS, to: `${SENDS} controller.signal.throwIfAborted();`, missing: ['0.81', '0.86', 'expo-57'] },
};

describe.each(environments.filter(({ os }) => os === 'android'))('a core in $name', (environment) => {
  const pays = async (change: (code: string) => string, id: string) => {
    const app = launch(environment, disk(), Number.POSITIVE_INFINITY, change);
    const { effect } = await app.play(app.global.scenarios['an answer'], { base: shop.base, id });
    app.close();
    return { effect, charges: shop.saw(id).charges };
  };

  test('pays if it is unchanged', async () => expect(await pays((code) => code, `${environment.app}-as-it-is`)).toEqual({ effect: 'done', charges: 1 }));

  const controls = Object.entries(CONTROLS).filter(([, { missing }]) => missing.includes(environment.app));
  test.each(controls)('that uses %s does not pay', async (name, { from, to }) => {
    const app = launch(environment, disk());
    expect(() => app.global.wrong[name]?.()).toThrow();
    app.close();
    const change = (code: string) => {
      expect(code).toContain(from);
      return code.replaceAll(from, to);
    };
    expect(await pays(change, `${environment.app}-${name}`)).toMatchObject({ effect: expect.not.stringMatching('done'), charges: 0 });
  });
});
