/** Runs the functions of a test in a page, frame or worker: the other end of `test/browser/support/realms.ts`. */
import * as lib from './lib.js';

interface Asked {
  readonly id: number;
  readonly code: string;
  readonly args: readonly unknown[];
}

const told = (error: unknown) => {
  const { name, message, code, outcome } = (typeof error === 'object' && error !== null ? error : {}) as Record<string, unknown>;
  return { name, message: message ?? String(error), code, outcome };
};

function serve(port: MessagePort): void {
  port.onmessage = async ({ data }: MessageEvent<Asked>) => {
    try {
      const { default: work } = await import(`data:text/javascript,export default ${encodeURIComponent(data.code)}`);
      port.postMessage({ id: data.id, value: await work(lib, ...data.args) });
    } catch (error) {
      port.postMessage({ id: data.id, error: told(error) });
    }
  };
  port.postMessage('ready');
}

const connect = ({ ports }: MessageEvent) => ports[0] && serve(ports[0]);
addEventListener('message', connect);
// A shared worker gets its port by this event.
addEventListener('connect', connect as EventListener);
