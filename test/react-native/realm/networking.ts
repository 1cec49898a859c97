/** A model of React Native's native module Networking, whose methods differ between iOS and Android. */
import { type Hear, type Os, type Sent, send } from './system-http.js';

/** The bytes of blobs, by their ids. */
export type Blobs = Map<string, Buffer>;

interface BlobPart {
  readonly blobId: string;
  readonly offset: number;
  readonly size: number;
  readonly type?: string;
}
export const partOf = (blobs: Blobs, { blobId, offset, size }: BlobPart): Buffer => (blobs.get(blobId) ?? Buffer.alloc(0)).subarray(offset, offset + size);

interface Data {
  readonly string?: string;
  readonly base64?: string;
  readonly blob?: BlobPart;
}
interface Query {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly data?: Data | null;
  readonly responseType: string;
}

export interface Host {
  readonly os: Os;
  readonly blobs: Blobs;
  /** Sends an event to JavaScript. */
  emit(name: string, given: readonly unknown[]): void;
  /** Marks a moment at which the app may be killed, and returns whether the app is still alive. */
  step(): boolean;
}

const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

function bodyOf(data: Data | null | undefined, blobs: Blobs): Buffer | undefined {
  if (typeof data?.string === 'string') return Buffer.from(data.string);
  if (typeof data?.base64 === 'string') return Buffer.from(data.base64, 'base64');
  return data?.blob && partOf(blobs, data.blob);
}

/** Joins header lines of one name, as both systems do. */
function joined(pairs: readonly (readonly [string, string])[]): Record<string, string> {
  const all: Record<string, string> = {};
  for (const [name, value] of pairs) all[name] = name in all ? `${all[name]}, ${value}` : value;
  return all;
}

export function networkingOf({ os, blobs, emit, step }: Host) {
  let last = 0;
  const live = new Map<number, () => void>();
  /** Ends a request. Returns whether it was still open. */
  const over = (id: number) => live.delete(id);
  const hearingOf = (id: number, responseType: string): Hear => {
    let type = '';
    return {
      head({ status, headers, url }) {
        const all = joined(headers);
        type = all['content-type'] ?? '';
        emit('didReceiveNetworkResponse', [id, status, all, url]);
      },
      body(bytes) {
        if (!over(id)) return;
        const blobId = `native-${id}`;
        if (responseType === 'blob') blobs.set(blobId, bytes);
        const data = { blob: { blobId, offset: 0, size: bytes.length, type }, base64: bytes.toString('base64') }[responseType] ?? bytes.toString();
        emit('didReceiveNetworkData', [id, data]);
        if (step()) emit('didCompleteNetworkResponse', [id, null, false]);
      },
      fail(message) {
        if (over(id) && step()) emit('didCompleteNetworkResponse', [id, message, false]);
      },
    };
  };
  const run = (id: number, { data, responseType, ...query }: Query) => {
    if (!step()) return;
    const sent: Sent = { ...query, body: bodyOf(data, blobs) };
    live.set(id, send(os, sent, hearingOf(id, responseType)));
  };
  const systems = {
    ios: (query: Query, tellId: (id: number) => void) => {
      const [id, asked] = [++last, plain(query)];
      setImmediate(() => {
        tellId(id);
        run(id, asked);
      });
    },
    android: (method: string, url: string, id: number, headers: Iterable<readonly [string, string]>, data: Data, responseType: string) =>
      run(id, { method, url, headers: Object.fromEntries(plain(Array.from(headers))), data: plain(data), responseType }),
  };
  return {
    sendRequest: systems[os],
    abortRequest(id: number) {
      live.get(id)?.();
      live.delete(id);
    },
    clearCookies: (done: (cleared: boolean) => void) => done(false),
    addListener() {},
    removeListeners() {},
    closeAll() {
      for (const cancel of live.values()) cancel();
    },
  };
}
