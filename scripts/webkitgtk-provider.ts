/** A vitest browser provider for WebKitGTK. */
import { defineBrowserProvider } from '@vitest/browser';
import type { BrowserCommand, BrowserProvider, BrowserProviderOption, TestProject } from 'vitest/node';
import { WebKitGtk, type WebKitGtkPlaces } from './webkitgtk.ts';

class WebKitGtkProvider implements BrowserProvider {
  readonly name = 'webkitgtk';
  readonly supportsParallelism = false;
  readonly #places: WebKitGtkPlaces;
  #browser: Promise<WebKitGtk> | undefined;

  constructor(project: TestProject, places: WebKitGtkPlaces) {
    this.#places = places;
    // Vitest sends this command before every test file. It does nothing, because the display has a fixed size.
    const viewport: BrowserCommand<[]> = async () => {};
    (project.browser as { registerCommand(name: string, command: BrowserCommand<[]>): void } | undefined)?.registerCommand('__vitest_viewport', viewport);
  }

  getCommandsContext(): Record<string, unknown> {
    return {};
  }

  async openPage(_session: string, url: string): Promise<void> {
    this.#browser ??= WebKitGtk.start(this.#places);
    const browser = await this.#browser.catch((error) => {
      this.#browser = undefined;
      throw error;
    });
    await browser.command('POST', '/url', { url });
  }

  async close(): Promise<void> {
    const browser = this.#browser;
    this.#browser = undefined;
    // This also ends a browser that is still starting.
    await (await browser?.catch(() => undefined))?.stop();
  }
}

export const webkitgtk = (places: WebKitGtkPlaces): BrowserProviderOption =>
  defineBrowserProvider<WebKitGtkPlaces>({
    name: 'webkitgtk',
    supportedBrowser: ['webkit'],
    options: places,
    providerFactory: (project, options = places) => new WebKitGtkProvider(project, options),
  }) as BrowserProviderOption;
