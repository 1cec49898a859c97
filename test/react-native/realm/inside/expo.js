/** The parts that Expo's native side puts into a realm: its shared objects, and the module of its fetch. */

/**
 * @param {(url: string, init: string, body: number[] | null, hear: { head(json: string): void, body(bytes: number[]): void, fail(message: string): void }) => () => void} http
 * @param {string} os
 */
(http, os) => {
  /** @typedef {(...given: unknown[]) => void} Hear */
  class EventEmitter {
    /** @type {Map<string, Set<Hear>>} */
    #heard = new Map();
    /** @param {string} name @param {Hear} hear */
    addListener(name, hear) {
      this.#heard.set(name, (this.#heard.get(name) ?? new Set()).add(hear));
      return { remove: () => this.removeListener(name, hear) };
    }
    /** @param {string} name @param {Hear} hear */
    removeListener(name, hear) {
      this.#heard.get(name)?.delete(hear);
    }
    /** @param {string} name */
    removeAllListeners(name) {
      this.#heard.delete(name);
    }
    /** @param {string} name @param {unknown[]} given */
    emit(name, ...given) {
      for (const hear of [...(this.#heard.get(name) ?? [])]) hear(...given);
    }
    /** @param {string} name */
    listenerCount(name) {
      return this.#heard.get(name)?.size ?? 0;
    }
  }
  class SharedObject extends EventEmitter {
    release() {}
  }
  class SharedRef extends SharedObject {}
  class NativeModule extends EventEmitter {}

  class NativeResponse extends SharedObject {
    #head = { status: -1, statusText: '', url: '', redirected: false, headers: [] };
    /** @param {Uint8Array<ArrayBuffer>} _bytes */
    #resolve = (_bytes) => {};
    /** @param {Error} _error */
    #reject = (_error) => {};
    /** @type {Promise<Uint8Array<ArrayBuffer>>} */
    #body = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    /** @param {string} json */
    gotHead(json) {
      this.#head = JSON.parse(json);
    }
    /** @param {number[]} bytes */
    gotBody(bytes) {
      this.#resolve(Uint8Array.from(bytes));
      this.emit('didComplete');
    }
    /** @param {string} message */
    failed(message) {
      const error = Object.assign(new Error(message), { code: 'ERR_FETCH' });
      this.#body.catch(() => {});
      this.#reject(error);
      this.emit('didFailWithError', message);
      return error;
    }
    get bodyUsed() {
      return false;
    }
    get _rawHeaders() {
      return this.#head.headers;
    }
    get status() {
      return this.#head.status;
    }
    get statusText() {
      return this.#head.statusText;
    }
    get url() {
      return this.#head.url;
    }
    get redirected() {
      return this.#head.redirected;
    }
    startStreaming() {
      return this.#body;
    }
    cancelStreaming() {}
    async arrayBuffer() {
      return (await this.#body).buffer;
    }
    async text() {
      return new TextDecoder().decode(await this.#body);
    }
  }

  class NativeRequest extends SharedObject {
    /** @param {NativeResponse} response */
    constructor(response) {
      super();
      this.response = response;
      this.cancel = () => {};
    }
    /** @param {string} url @param {object} init @param {Uint8Array | null} body */
    start(url, init, body) {
      return new Promise((resolve, reject) => {
        this.cancel = http(url, JSON.stringify(init), body && Array.from(body), {
          head: (json) => {
            this.response.gotHead(json);
            resolve(this.response);
          },
          body: (bytes) => this.response.gotBody(bytes),
          fail: (message) => reject(this.response.failed(message)),
        });
      });
    }
  }

  /** @param {object} own */
  const moduleOf = (own) => Object.assign(new NativeModule(), own);
  const known = { ExpoFetchModule: moduleOf({ NativeRequest, NativeResponse }), NativeModulesProxy: moduleOf({}) };
  // Expo asks for more modules at its start, and needs only that they exist.
  const modules = new Proxy(known, { get: (all, name) => (name in all || Reflect.set(all, name, moduleOf({}))) && Reflect.get(all, name) });
  const expo = { EventEmitter, SharedObject, SharedRef, NativeModule, modules, expoModulesCoreVersion: {}, cacheDir: '/', documentsDir: '/' };
  Object.assign(globalThis, { expo, process: { env: { EXPO_OS: os, NODE_ENV: 'production' } } });
};
