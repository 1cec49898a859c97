/** Tests under happy-dom: a clone of an answer there never ends when its body breaks off, because it is piped without its errors. */

/** What is read to its end by its nature; a stream stays as it is. */
const DOCUMENT = /json|xml|html|plain|urlencoded/i;

/** The answer with its body read, so that a clone of it ends; anywhere else, and of a stream, the answer itself. Rejects if the body breaks off. */
export async function cloneable(response: Response): Promise<Response> {
  if (!('happyDOM' in globalThis) || response.body === null || !DOCUMENT.test(response.headers.get('content-type') ?? '')) return response;
  const { status, statusText, headers, url, redirected, type } = response;
  const read = new Response(await response.arrayBuffer(), { status, statusText, headers });
  for (const [name, value] of Object.entries({ url, redirected, type })) Object.defineProperty(read, name, { value });
  return read;
}
