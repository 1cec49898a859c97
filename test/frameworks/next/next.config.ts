import { join } from 'node:path';
import type { NextConfig } from 'next';

// The packages are in the folder above, and so is what the shops share.
export default { turbopack: { root: join(import.meta.dirname, '..') }, outputFileTracingRoot: join(import.meta.dirname, '..') } satisfies NextConfig;
