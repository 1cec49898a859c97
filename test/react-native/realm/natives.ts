/** Models of the native modules that React Native's JavaScript asks for when it starts. */
import { type Blobs, partOf } from './networking.js';
import type { Os } from './system-http.js';

const NOTHING = () => {};
const VERSION = { major: 0, minor: 88, patch: 1, prerelease: null };
const CONSTANTS = {
  ios: { isTesting: true, osVersion: '19.0', systemName: 'iOS', interfaceIdiom: 'phone', forceTouchAvailable: false, isMacCatalyst: false },
  android: { isTesting: true, Version: 36, Release: '16', Serial: '', Fingerprint: '', Model: '', Brand: '', Manufacturer: '', uiMode: 'normal' },
};
const SCREEN = { width: 400, height: 800, scale: 2, fontScale: 1 };

type Part = { readonly type: 'string'; readonly data: string } | { readonly type: 'blob'; readonly data: Slice };
interface Slice {
  readonly blobId: string;
  readonly offset: number;
  readonly size: number;
  readonly type?: string;
}

export interface Inside {
  /** Copies a value into an object of the realm, as JSI does. */
  into<T>(value: T): T;
  /** Makes a promise of the realm. */
  promise(executor: (resolve: (value: unknown) => void, reject: (error: unknown) => void) => void): Promise<unknown>;
  /** Errors that nobody has caught. */
  readonly unhandled: { readonly message: string }[];
}

const blobModules = (blobs: Blobs, { into, promise }: Inside) => ({
  BlobModule: {
    getConstants: () => into({ BLOB_URI_SCHEME: 'blob', BLOB_URI_HOST: null }),
    addNetworkingHandler: NOTHING,
    addWebSocketHandler: NOTHING,
    removeWebSocketHandler: NOTHING,
    createFromParts: (parts: Iterable<Part>, id: string) =>
      void blobs.set(id, Buffer.concat(Array.from(parts, ({ type, data }) => (type === 'string' ? Buffer.from(data) : partOf(blobs, data))))),
    release: (id: string) => void blobs.delete(id),
  },
  FileReaderModule: {
    readAsText: (blob: Slice) => promise((resolve) => setImmediate(() => resolve(partOf(blobs, blob).toString()))),
    readAsDataURL: (blob: Slice) =>
      promise((resolve) => setImmediate(() => resolve(`data:${blob.type || 'application/octet-stream'};base64,${partOf(blobs, blob).toString('base64')}`))),
  },
});

export function nativesOf(os: Os, blobs: Blobs, inside: Inside): Record<string, object> {
  const { into, unhandled } = inside;
  return {
    ...blobModules(blobs, inside),
    PlatformConstants: { getConstants: () => into({ ...CONSTANTS[os], reactNativeVersion: VERSION }) },
    DeviceInfo: { getConstants: () => into({ Dimensions: { window: SCREEN, screen: SCREEN } }) },
    SourceCode: { getConstants: () => into({ scriptURL: 'file:///main.jsbundle' }) },
    NativeMicrotasksCxx: { queueMicrotask: (work: () => void) => queueMicrotask(() => work()) },
    NativeIdleCallbacksCxx: { requestIdleCallback: (work: () => void) => void setImmediate(work), cancelIdleCallback: NOTHING },
    NativePerformanceCxx: { now: () => performance.now(), timeOrigin: () => performance.timeOrigin },
    NativeReactNativeFeatureFlagsCxx: new Proxy({}, { get: () => () => false }),
    ExceptionsManager: {
      reportException: (error: { readonly message: string }) => void unhandled.push(error),
      updateExceptionMessage: NOTHING,
      dismissRedbox: NOTHING,
    },
  };
}
