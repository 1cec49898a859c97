// @ts-nocheck: it makes and hands over objects of another realm.

// An "RN-like realm": a fresh V8 context pruned to the global set Hermes has, running React Native's OWN
// JS environment (setup-env: XMLHttpRequest, whatwg-fetch, Blob, URL, AbortController, timers glue ...),
// with only the *native* side (TurboModules + JSI host functions) supplied by Node.
const vm = require('node:vm');
const http = require('node:http');
const https = require('node:https');
const zlib = require('node:zlib');
const fs = require('node:fs');
const { performance } = require('node:perf_hooks');

// ---- 1. which builtins Hermes has (dumped from a real Hermes VM; see hermes-1.0-globals.json) ----
const CLI_ONLY = new Set(['$262', '$SHBuiltin', 'QuitError', 'TimeoutError', 'alert']);
const INTL = ['Collator', 'DateTimeFormat', 'NumberFormat', 'getCanonicalLocales']; // what Hermes implements on device (hermes/doc/IntlAPIs.md)
function prune(ctx, manifest) {
  const m = Object.fromEntries(Object.entries(manifest).filter(([k]) => !CLI_ONLY.has(k)));
  ctx.__manifest = JSON.stringify({ m, INTL });
  return Array.from(
    vm.runInContext(
      `(() => {
    const {m: M, INTL} = JSON.parse(__manifest); delete globalThis.__manifest;
    const keep = new Set(['console', 'globalThis', 'Intl', ...Object.keys(M)]), removed = [], missing = [];
    const cut = (o, names, label) => { for (const k of Object.getOwnPropertyNames(o)) if (!names.includes(k)) { try { if (delete o[k]) removed.push(label + k); } catch {} }
      for (const k of names) if (!Object.prototype.hasOwnProperty.call(o, k) && !/^_|^caller$|^arguments$/.test(k)) missing.push(label + k); };
    for (const k of Object.getOwnPropertyNames(globalThis)) if (!keep.has(k)) { if (delete globalThis[k]) removed.push(k); }
    for (const k of Object.getOwnPropertyNames(Intl)) if (!INTL.includes(k)) delete Intl[k];
    const special = {'%TypedArray%': Object.getPrototypeOf(Uint8Array), '%IteratorPrototype%': {prototype: Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()))}};
    for (const [name, {own, proto}] of Object.entries(M)) {
      const o = special[name] ?? globalThis[name];
      if (o == null || (typeof o !== 'function' && typeof o !== 'object')) { if (own || proto) missing.push(name); continue; }
      if (own && name !== 'console') cut(o, own, name + '.');
      if (proto && o.prototype) cut(o.prototype, proto, name + '.prototype.');
    }
    globalThis.__pruned = {removed, missing};
    return removed;
  })()`,
      ctx,
    ),
  );
}

// ---- 2. the native networking module over node:http ----
function makeNetworking({ platform, emit, blobs, defaultTimeout = 0, step }) {
  let nextId = 1;
  const live = new Map();
  function run(id, request) {
    if (step()) send(id, request);
  }
  function send(id, { method, url, headers, data, responseType, timeout }) {
    const u0 = url;
    let redirects = 0;
    let done = false;
    const finish = (error, timedOut) => {
      if (done) return;
      done = true;
      clearTimeout(timer);
      live.delete(id);
      emit('didCompleteNetworkResponse', [id, error ?? null, !!timedOut]);
    };
    const ms = timeout || defaultTimeout;
    const timer = ms
      ? setTimeout(() => {
          req?.destroy();
          finish(platform === 'ios' ? 'The request timed out.' : 'timeout', true);
        }, ms)
      : undefined;
    let req;
    const body = bodyOf(data, blobs);
    const h = { ...headers };
    if (body?.type && !Object.keys(h).some((k) => k.toLowerCase() === 'content-type')) h['content-type'] = body.type;
    h['accept-encoding'] ??= 'gzip';
    const go = (target, m, b) => {
      let parsed;
      try {
        parsed = new URL(target);
      } catch {
        return queueMicrotask(() => finish('unsupported URL'));
      }
      if (b) h['content-length'] = String(b.length);
      else {
        delete h['content-length'];
        if (m === 'POST' || m === 'PUT' || m === 'PATCH') h['content-length'] = '0';
      }
      req = (parsed.protocol === 'https:' ? https : http).request(parsed, { method: m, headers: h }, (res) => {
        if ([301, 302, 303, 307, 308].includes(res.statusCode) && res.headers.location && redirects++ < 20) {
          res.resume();
          const keep = res.statusCode === 307 || res.statusCode === 308;
          return go(new URL(res.headers.location, parsed).href, keep ? m : m === 'HEAD' ? m : 'GET', keep ? b : undefined);
        }
        const flat = {};
        for (let i = 0; i < res.rawHeaders.length; i += 2) {
          const k = res.rawHeaders[i];
          flat[k] = flat[k] === undefined ? res.rawHeaders[i + 1] : `${flat[k]}, ${res.rawHeaders[i + 1]}`;
        }
        emit('didReceiveNetworkResponse', [id, res.statusCode, flat, parsed.href]);
        const chunks = [];
        const src = res.headers['content-encoding'] === 'gzip' ? res.pipe(zlib.createGunzip()) : res;
        src.on('data', (c) => chunks.push(c));
        src.on('error', (e) => finish(e.message));
        res.on('aborted', () => finish(platform === 'ios' ? 'The network connection was lost.' : 'unexpected end of stream'));
        src.on('end', () => {
          if (done || !res.complete) return;
          const buf = Buffer.concat(chunks);
          if (responseType === 'base64') emit('didReceiveNetworkData', [id, buf.toString('base64')]);
          else if (responseType === 'blob') {
            const blobId = `native-${id}`;
            blobs.set(blobId, buf);
            emit('didReceiveNetworkData', [id, { blobId, offset: 0, size: buf.length, type: res.headers['content-type'] || '' }]);
          } else emit('didReceiveNetworkData', [id, buf.toString('utf8')]);
          finish();
        });
      });
      req.on('error', (_e) => finish(platform === 'ios' ? 'Could not connect to the server.' : `Failed to connect to ${parsed.host}`));
      req.end(b);
    };
    live.set(id, () => {
      done = true;
      clearTimeout(timer);
      live.delete(id);
      req?.destroy();
    });
    go(u0, method, body?.bytes);
  }
  const common = {
    closeAll: () => {
      for (const end of [...live.values()]) end();
    },
    abortRequest: (id) => live.get(id)?.(),
    clearCookies: (cb) => cb(false),
    addListener() {},
    removeListeners() {},
  };
  return platform === 'ios'
    ? {
        ...common,
        sendRequest(q, cb) {
          const id = nextId++;
          const plain = clone(q);
          setImmediate(() => {
            cb(id);
            run(id, plain);
          });
        },
      }
    : {
        ...common,
        sendRequest(method, url, id, hdrs, data, responseType, _incremental, timeout, withCredentials) {
          run(id, {
            method,
            url,
            headers: Object.fromEntries(Array.from(hdrs, ([k, v]) => [k, v])),
            data: clone(data),
            responseType,
            timeout,
            withCredentials,
          });
        },
      };
}
const clone = (v) => JSON.parse(JSON.stringify(v));
function bodyOf(data, blobs) {
  if (!data) return;
  if (data.string != null) return { bytes: Buffer.from(data.string, 'utf8') };
  if (data.base64 != null) return { bytes: Buffer.from(data.base64, 'base64') };
  if (data.blob) {
    const b = blobs.get(data.blob.blobId);
    return { bytes: b.subarray(data.blob.offset, data.blob.offset + data.blob.size), type: data.blob.type };
  }
  if (data.formData) {
    const boundary = `rn${Math.random().toString(36).slice(2)}`;
    const parts = data.formData.map((p) => {
      const hs = Array.isArray(p.headers) ? p.headers : Object.entries(p.headers);
      return `--${boundary}\r\n${hs.map(([k, v]) => `${k}: ${v}\r\n`).join('')}\r\n${p.string ?? ''}\r\n`;
    });
    return { bytes: Buffer.from(`${parts.join('')}--${boundary}--\r\n`), type: `multipart/form-data; boundary=${boundary}` };
  }
}

const scripts = new Map();
/** Compiled once: an app is launched many times. */
function scriptOf(bundle) {
  if (!scripts.has(bundle)) scripts.set(bundle, new vm.Script(fs.readFileSync(bundle, 'utf8'), { filename: bundle }));
  return scripts.get(bundle);
}

// ---- 3. put it together ----
function createRealm({
  platform = 'ios',
  bundle,
  manifest,
  extraNative = {},
  networkTimeout = 0,
  prelude = '',
  textEncoding = true,
  before,
  turboProxy = false,
  textDecoder = true,
  step = () => true,
  change,
}) {
  const ctx = vm.createContext(Object.create(null), { name: `rn-${platform}` });
  if (manifest) prune(ctx, manifest);
  const G = vm.runInContext('globalThis', ctx);
  const blobs = new Map();
  const timers = new Map();
  let tid = 1;
  const unhandled = [];
  const asked = [];
  // args crossing native -> JS must be realm objects, as JSI would make them
  const into = (v) => vm.runInContext('JSON.parse', ctx)(JSON.stringify(v ?? null));
  let dead = false;
  const emit = (name, args) => {
    if (!dead && (name !== 'didCompleteNetworkResponse' || step())) G.__rctDeviceEventEmitter.emit(name, into(args));
  };
  const resolveP = vm.runInContext('(f) => new Promise(f)', ctx);
  const natives = {
    Networking: makeNetworking({ platform, emit, blobs, defaultTimeout: networkTimeout, step }),
    BlobModule: {
      getConstants: () => into({ BLOB_URI_SCHEME: 'blob', BLOB_URI_HOST: null }),
      addNetworkingHandler() {},
      addWebSocketHandler() {},
      removeWebSocketHandler() {},
      sendOverSocket() {},
      createFromParts(parts, id) {
        blobs.set(
          id,
          Buffer.concat(
            Array.from(parts, (p) =>
              p.type === 'string' ? Buffer.from(p.data) : blobs.get(p.data.blobId).subarray(p.data.offset, p.data.offset + p.data.size),
            ),
          ),
        );
      },
      release(id) {
        blobs.delete(id);
      },
    },
    FileReaderModule: {
      readAsText: (b, enc) =>
        resolveP((r) =>
          setImmediate(() =>
            r(
              blobs
                .get(b.blobId)
                .subarray(b.offset, b.offset + b.size)
                .toString(/utf-?8/i.test(enc) ? 'utf8' : enc),
            ),
          ),
        ),
      readAsDataURL: (b) =>
        resolveP((r) =>
          setImmediate(() =>
            r(
              `data:${b.type || 'application/octet-stream'};base64,` +
                blobs
                  .get(b.blobId)
                  .subarray(b.offset, b.offset + b.size)
                  .toString('base64'),
            ),
          ),
        ),
    },
    PlatformConstants: {
      getConstants: () =>
        into(
          platform === 'ios'
            ? {
                isTesting: true,
                osVersion: '19.0',
                systemName: 'iOS',
                interfaceIdiom: 'phone',
                forceTouchAvailable: false,
                isMacCatalyst: false,
                reactNativeVersion: { major: 0, minor: 88, patch: 1, prerelease: null },
              }
            : {
                isTesting: true,
                Version: 36,
                Release: '16',
                Serial: '',
                Fingerprint: '',
                Model: '',
                Brand: '',
                Manufacturer: '',
                uiMode: 'normal',
                reactNativeVersion: { major: 0, minor: 88, patch: 1, prerelease: null },
              },
        ),
    },
    NativeMicrotasksCxx: { queueMicrotask: (f) => queueMicrotask(() => f()) },
    NativeIdleCallbacksCxx: {
      requestIdleCallback: (f) => {
        setImmediate(f);
        return 1;
      },
      cancelIdleCallback() {},
    },
    NativePerformanceCxx: { now: () => performance.now(), timeOrigin: () => performance.timeOrigin },
    NativeReactNativeFeatureFlagsCxx: new Proxy({}, { get: () => () => false }),
    SourceCode: { getConstants: () => into({ scriptURL: 'file:///main.jsbundle' }) },
    DeviceInfo: {
      getConstants: () =>
        into({ Dimensions: { window: { width: 400, height: 800, scale: 2, fontScale: 1 }, screen: { width: 400, height: 800, scale: 2, fontScale: 1 } } }),
    },
    ExceptionsManager: {
      reportException(d) {
        unhandled.push(d);
      },
      updateExceptionMessage() {},
      dismissRedbox() {},
    },
    ...extraNative,
  };
  const host = {
    RN$Bridgeless: true,
    RN$registerCallableModule: () => {},
    nativeModuleProxy: new Proxy(
      {},
      {
        get: (_, n) => {
          if (typeof n === 'string') asked.push(n);
          return natives[n] ?? null;
        },
      },
    ), // bridgeless: TurboModuleBinding.cpp installs only this one
    HermesInternal: { hasPromise: () => true, enablePromiseRejectionTracker() {}, getRuntimeProperties: () => ({}), getInstrumentedStats: () => ({}) }, // else RN swaps in its `promise` polyfill
    nativePerformanceNow: () => performance.now(),
    nativeLoggingHook: (msg, level) => {
      if (process.env.RN_LOG) console.log(`[rn:${level}]`, msg);
    },
    setTimeout: (f, ms, ...a) => {
      const id = tid++;
      timers.set(
        id,
        setTimeout(() => {
          timers.delete(id);
          if (!dead) f(...a);
        }, ms),
      );
      return id;
    },
    clearTimeout: (id) => {
      clearTimeout(timers.get(id));
      timers.delete(id);
    },
    setInterval: (f, ms, ...a) => {
      const id = tid++;
      timers.set(
        id,
        setInterval(() => f(...a), ms),
      );
      return id;
    },
    clearInterval: (id) => {
      clearInterval(timers.get(id));
      timers.delete(id);
    },
    requestAnimationFrame: (f) => {
      const id = tid++;
      timers.set(
        id,
        setTimeout(() => f(performance.now()), 16),
      );
      return id;
    },
    cancelAnimationFrame: (id) => {
      clearTimeout(timers.get(id));
    },
  };
  for (const [k, v] of Object.entries(host)) G[k] = v;
  if (textEncoding) {
    // Hermes V1 JSI extensions; V8 contexts have no TextEncoder, so lend Node's over realm buffers
    G.__enc = (s) => Array.from(Buffer.from(s, 'utf8'));
    G.__dec = (a, label, fatal) => new TextDecoder(label, { fatal }).decode(Uint8Array.from(a));
    vm.runInContext(
      `globalThis.TextEncoder = class TextEncoder { get encoding() { return 'utf-8'; } encode(s = '') { return Uint8Array.from(__enc(String(s).toWellFormed ? String(s).toWellFormed() : String(s))); } };
      globalThis.TextDecoder = class TextDecoder { constructor(l = 'utf-8', o = {}) { this.l = l; this.f = !!o.fatal; } get encoding() { return this.l; } decode(b) { if (b === undefined) return ''; const u = ArrayBuffer.isView(b) ? new Uint8Array(b.buffer, b.byteOffset, b.byteLength) : new Uint8Array(b); return __dec(Array.from(u), this.l, this.f); } };`,
      ctx,
    );
  }
  G.atob = (x) => atob(String(x));
  G.btoa = (x) => btoa(String(x)); // Hermes has both natively
  if (!textDecoder) delete G.TextDecoder; // RN 0.84-0.87 Hermes (250829098) has TextEncoder only
  if (turboProxy) G.__turboModuleProxy = (n) => G.nativeModuleProxy[n]; // RN 0.81: still there in bridgeless
  before?.(G);
  if (prelude) vm.runInContext(prelude, ctx);
  (change ? new vm.Script(change(fs.readFileSync(bundle, 'utf8'))) : scriptOf(bundle)).runInContext(ctx);
  return {
    ctx,
    G,
    asked,
    unhandled,
    blobs,
    emit,
    run: (src, arg) => {
      G.__arg = arg === undefined ? undefined : into(arg);
      return vm.runInContext(src, ctx);
    },
    into,
    close() {
      dead = true;
      for (const t of timers.values()) clearTimeout(t);
      natives.Networking.closeAll();
    },
  };
}
module.exports = { createRealm };
