/** Resolves URLs as text, because React Native's own URL adds slashes, resolves relative URLs wrongly, and accepts what is not a URL. */
import { wrong } from '../../texts/full.js';

/** RFC 3986, appendix B, for URLs with an authority. */
const ABSOLUTE = /^([a-z][a-z0-9+.-]*):\/\/([^/?#\\]+)([^?#]*)(\?[^#]*)?/i;
const DEFAULT_PORT = /^(?:http:\/\/.*:80|https:\/\/.*:443)$/;

interface Parts {
  readonly origin: string;
  readonly path: string;
  readonly query: string;
}

function partsOf(url: string): Parts | undefined {
  const [, scheme, authority = '', path = '', query = ''] = ABSOLUTE.exec(url) ?? [];
  if (scheme === undefined || /\s/.test(authority)) return undefined;
  const origin = `${scheme}://${authority}`.toLowerCase();
  return { origin: DEFAULT_PORT.test(origin) ? origin.replace(/:\d+$/, '') : origin, path: path || '/', query };
}

/** Removes dot segments (RFC 3986, section 5.2.4). */
function withoutDots(path: string): string {
  const kept: string[] = [];
  const segments = path.split('/').slice(1);
  for (const [at, segment] of segments.entries()) {
    if (segment === '..') kept.pop();
    else if (segment !== '.') kept.push(segment);
    if (at === segments.length - 1 && /^\.\.?$/.test(segment)) kept.push('');
  }
  return `/${kept.join('/')}`;
}

/** Resolves a relative reference (RFC 3986, section 5.2.2). */
function joined(reference: string, base: Parts): string {
  const [, path = '', query] = /^([^?#]*)(\?[^#]*)?/.exec(reference) ?? [];
  if (path.startsWith('//')) return `${base.origin.replace(/\/\/.*/, '')}${reference}`;
  if (path === '') return `${base.origin}${base.path}${query ?? base.query}`;
  return `${base.origin}${withoutDots(path.startsWith('/') ? path : base.path.replace(/[^/]*$/, path))}${query ?? ''}`;
}

/** The absolute URL without its fragment, and its origin. Throws a TypeError if it can't be sent. */
export function resolveText(given: string, base: string | undefined): { readonly url: string; readonly origin: string } {
  const text = given.trim();
  const from = base === undefined ? undefined : partsOf(base);
  const parts = partsOf(text) ?? (from && partsOf(joined(text, from)));
  if (!parts) throw new TypeError(wrong('url', from ? 'url' : 'url-absolute', JSON.stringify(given.slice(0, 100))));
  if (parts.origin.includes('@')) throw new TypeError(wrong('url', 'url-credentials'));
  return { url: `${parts.origin}${parts.path}${parts.query}`, origin: parts.origin };
}

/** Whether two URLs differ only in their encoding: the system may encode a URL differently. */
export function isSameUrl(one: string, other: string): boolean {
  const plain = (url: string): string => {
    const parts = partsOf(url);
    const text = parts ? `${parts.origin}${parts.path}${parts.query}` : url;
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  };
  return plain(one) === plain(other);
}
