/**
 * What a bare Hermes needs before React Native's JavaScript runs: timers with their own clock, which advances when
 * nothing else is left to do, and the native modules. The build only strips the types from this file, and this Hermes
 * has no classes and no block scopes.
 */
(() => {
  type Work = (...given: unknown[]) => void;
  interface Query {
    readonly method: string;
    readonly url: string;
    readonly headers: object;
    readonly responseType: string;
    readonly data?: { readonly string?: string; readonly base64?: string };
  }
  interface Wire {
    respond(status: number, headers: Record<string, string>, text: string, url: string): void;
    fail(message: string | null): void;
  }
  interface Bare {
    readonly setTimeout: (work: () => void, ms: number) => unknown;
    readonly print: (line: string) => void;
    readonly __network: (request: object, wire: Wire) => () => void;
    readonly __rctDeviceEventEmitter: { emit(name: string, given: readonly unknown[]): void };
  }
  const bare = globalThis as unknown as Bare;
  const turn = bare.setTimeout;
  const startedAt = Date.now();
  const FRAME_MS = 16;
  let now = 0;
  let last = 0;
  let turning = false;
  let waiting: { id: number; at: number; work: () => void; everyMs: number | undefined }[] = [];
  function arm() {
    if (turning || waiting.length === 0) return;
    turning = true;
    turn(fire, 0);
  }
  function fire() {
    turning = false;
    waiting.sort((a, b) => a.at - b.at || a.id - b.id);
    const due = waiting.shift();
    if (!due) return;
    now = Math.max(now, due.at);
    if (due.everyMs !== undefined) waiting.push({ ...due, at: now + due.everyMs });
    arm();
    due.work();
  }
  function add(work: () => void, ms: unknown, everyMs?: number) {
    const id = ++last;
    waiting.push({ id, at: now + Math.max(0, Number(ms) || 0), work, everyMs });
    arm();
    return id;
  }
  function stop(id: number) {
    waiting = waiting.filter((one) => one.id !== id);
  }
  Reflect.deleteProperty(bare, 'setImmediate');
  Date.now = () => startedAt + now;

  const blobs: Record<string, string> = {};
  const live: Record<number, () => void> = {};
  const sizeOf = (text: string) => unescape(encodeURIComponent(text)).length;
  const bodyOf = (data: Query['data']) => data?.string ?? decodeURIComponent(escape(globalThis.atob(data?.base64 ?? '')));
  function run(id: number, { method, url, headers: sent, data, responseType }: Query) {
    const emit = (name: string, ...given: unknown[]) => {
      if (live[id]) bare.__rctDeviceEventEmitter.emit(name, [id, ...given]);
    };
    function end(message: string | null) {
      emit('didCompleteNetworkResponse', message, false);
      delete live[id];
    }
    function respond(status: number, headers: Record<string, string>, text: string, from: string) {
      emit('didReceiveNetworkResponse', status, headers, from);
      const blobId = `native-${id}`;
      if (responseType === 'blob') blobs[blobId] = text;
      emit('didReceiveNetworkData', responseType === 'blob' ? { blobId, offset: 0, size: sizeOf(text), type: headers['content-type'] } : text);
      end(null);
    }
    live[id] = () => {};
    live[id] = bare.__network({ method, url, headers: sent, body: bodyOf(data) }, { respond, fail: end });
  }
  const nothing = () => {};
  const constant = (value: object) => ({ getConstants: () => value });
  const screen = { width: 400, height: 800, scale: 2, fontScale: 1 };
  type Part = { readonly type: 'string'; readonly data: string } | { readonly type: 'blob'; readonly data: { readonly blobId: string } };
  const natives: Record<string, object> = {
    Networking: {
      sendRequest(query: Query, tellId: (id: number) => void) {
        const id = ++last;
        tellId(id);
        add(() => run(id, query), 0);
      },
      abortRequest(id: number) {
        live[id]?.();
        delete live[id];
      },
      clearCookies: nothing,
      addListener: nothing,
      removeListeners: nothing,
    },
    BlobModule: {
      getConstants: () => ({ BLOB_URI_SCHEME: 'blob', BLOB_URI_HOST: null }),
      addNetworkingHandler: nothing,
      addWebSocketHandler: nothing,
      createFromParts(parts: readonly Part[], id: string) {
        blobs[id] = parts.map(({ type, data }) => (type === 'string' ? data : blobs[data.blobId])).join('');
      },
      release: nothing,
    },
    FileReaderModule: { readAsText: ({ blobId }: { blobId: string }) => Promise.resolve(blobs[blobId]) },
    PlatformConstants: constant({ isTesting: true, osVersion: '19.0', systemName: 'iOS', reactNativeVersion: { major: 0, minor: 88, patch: 1 } }),
    DeviceInfo: constant({ Dimensions: { window: screen, screen } }),
    NativeMicrotasksCxx: { queueMicrotask: (work: () => void) => void Promise.resolve().then(work) },
    NativeIdleCallbacksCxx: { requestIdleCallback: (work: () => void) => add(work, 1), cancelIdleCallback: stop },
    NativePerformanceCxx: { now: () => now, timeOrigin: () => startedAt },
    NativeReactNativeFeatureFlagsCxx: new Proxy({}, { get: () => () => false }),
    ExceptionsManager: {
      reportException: ({ message }: { message: string }) => bare.print(JSON.stringify({ uncaught: message })),
      updateExceptionMessage: nothing,
    },
  };
  Object.assign(bare, {
    setTimeout: (work: Work, ms?: number, ...given: unknown[]) => add(() => work(...given), ms),
    setInterval: (work: Work, ms = 0, ...given: unknown[]) => add(() => work(...given), ms, Math.max(1, ms)),
    requestAnimationFrame: (work: Work) => add(() => work(now), FRAME_MS),
    clearTimeout: stop,
    clearInterval: stop,
    cancelAnimationFrame: stop,
    nativePerformanceNow: () => now,
    nativeLoggingHook: nothing,
    RN$Bridgeless: true,
    RN$registerCallableModule: nothing,
    nativeModuleProxy: {},
    __turboModuleProxy: (name: string) => natives[name] ?? null,
    console: globalThis.console ?? { log: nothing, warn: nothing, error: nothing, info: nothing, debug: nothing, trace: nothing },
  });
})();
