/** All lanes of the comparison, for the page. */
import { fiftyLines } from './fifty-lines.ts';
import { keyInAMap } from './key-in-a-map.ts';
import { keyPerCall } from './key-per-call.ts';
import type { Pay } from './lane.ts';
import { oncefetch } from './oncefetch.ts';
import { plain } from './plain.ts';
import { tanstackQuery } from './tanstack-query.ts';

Object.assign(globalThis, { lanes: { plain, keyPerCall, tanstackQuery, keyInAMap, fiftyLines, oncefetch } satisfies Record<string, Pay> });
