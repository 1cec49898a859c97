// @ts-nocheck: it makes and hands over objects of another realm.

const http = require('node:http');
const { createRealm: base } = require('./realm.cjs');
exports.createRealm = (opts) => {
  const prelude = `(() => {
    class EventEmitter { addListener(n, f) { ((this.__l ??= {})[n] ??= new Set()).add(f); return {remove: () => this.removeListener(n, f)}; } removeListener(n, f) { this.__l?.[n]?.delete(f); } removeAllListeners(n) { if (this.__l) delete this.__l[n]; } emit(n, ...a) { for (const f of [...(this.__l?.[n] ?? [])]) f(...a); } listenerCount(n) { return this.__l?.[n]?.size ?? 0; } }
    class SharedObject extends EventEmitter { release() {} } class SharedRef extends SharedObject {} class NativeModule extends EventEmitter {}
    class NativeResponse extends SharedObject {
      constructor() { super(); Object.defineProperty(this, '__s', {value: {chunks: [], state: 'init', headers: [], status: -1}}); }
      get bodyUsed() { return false; } get _rawHeaders() { return this.__s.headers; } get status() { return this.__s.status; } get statusText() { return this.__s.statusText || ''; } get url() { return this.__s.url || ''; } get redirected() { return !!this.__s.redirected; }
      async startStreaming() { await this.__s.done; return this.__s.bytes(); } cancelStreaming() {}
      async arrayBuffer() { await this.__s.done; return this.__s.bytes().buffer; } async text() { await this.__s.done; return new TextDecoder().decode(this.__s.bytes()); }
    }
    class CodedError extends Error { constructor(code, m) { super(m); this.code = code; } }
    class NativeRequest extends SharedObject {
      constructor(resp) { super(); Object.defineProperty(this, '__r', {value: resp}); }
      start(url, init, body) { const s = this.__r.__s; let fin; s.done = new Promise((res, rej) => { fin = {res, rej}; }); s.done.catch(() => {}); let data = []; s.bytes = () => Uint8Array.from(data);
        return new Promise((res, rej) => { this.__cancel = __expoHttp(url, JSON.stringify(init), body ? Array.from(body) : null,
          j => { const m = JSON.parse(j); s.status = m.status; s.statusText = m.statusText; s.headers = m.headers; s.url = m.url; res(this.__r); },
          arr => { data = arr; fin.res(); this.__r.emit('didComplete'); },
          m => { const e = new CodedError('ERR_FETCH', m); rej(e); fin.rej(e); this.__r.emit('didFailWithError', m); }); }); }
      cancel() { this.__cancel?.(); }
    }
    const mod = extra => Object.assign(new NativeModule(), extra);
    globalThis.expo = {EventEmitter, SharedObject, SharedRef, NativeModule, uuidv4: () => 'x', uuidv5: () => 'x', getViewConfig: () => null, expoModulesCoreVersion: {}, cacheDir: '/', documentsDir: '/', reloadAppAsync() {},
      modules: new Proxy({ExpoFetchModule: mod({NativeRequest, NativeResponse}), NativeModulesProxy: mod({})}, {get: (t, k) => { if (!(k in t) && typeof k === 'string') { __expoAsked(k); t[k] = mod({}); } return t[k]; }})};
    globalThis.process = {env: {EXPO_OS: 'ios', NODE_ENV: 'production'}};
  })()`;
  const asked = [];
  const r = base({
    ...opts,
    before: (G) => {
      G.__expoAsked = (k) => asked.push(k);
      G.__expoHttp = (url, init, body, onHead, onBody, onErr) => {
        const { method, headers } = JSON.parse(init);
        const b = body ? Buffer.from(Array.from(body)) : undefined;
        let dead = false;
        const u = new URL(url);
        const h = Object.fromEntries(headers);
        if (b) h['content-length'] = b.length;
        const go = (target) => {
          const q = http.request(target, { method, headers: h }, (res) => {
            if ([307, 308].includes(res.statusCode)) {
              res.resume();
              return go(new URL(res.headers.location, target));
            }
            const raw = [];
            for (let i = 0; i < res.rawHeaders.length; i += 2) raw.push([res.rawHeaders[i], res.rawHeaders[i + 1]]);
            onHead(JSON.stringify({ status: res.statusCode, statusText: res.statusMessage, headers: raw, url: target.href }));
            const c = [];
            res.on('data', (d) => c.push(d));
            res.on('end', () => onBody(Array.from(Buffer.concat(c))));
          });
          q.on('error', (e) => {
            if (!dead) onErr(e.code === 'ECONNREFUSED' ? 'Could not connect to the server.' : 'The network connection was lost.');
          });
          q.end(b);
          return q;
        };
        const q = go(u);
        return () => {
          dead = true;
          q.destroy();
          onErr('Fetch request has been canceled');
        };
      };
    },
    prelude,
  });
  r.expoAsked = asked;
  return r;
};
