import { join } from 'node:path';
import type { NextConfig } from 'next';

// The packages, and the code that the shops share, are in the folder above.
export default { turbopack: { root: join(import.meta.dirname, '..') }, outputFileTracingRoot: join(import.meta.dirname, '..') } satisfies NextConfig;
