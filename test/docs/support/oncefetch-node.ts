/** The same for `import … from 'oncefetch/node'`, whose `createOnce` has every feature. */
import { everything } from '../../../src/everything.js';
import type { Once } from '../../../src/once.js';
import type { OnceOptions } from '../../../src/option-types.js';
import { createOnce as bare } from './stage.js';

export * from '../../../src/entries/index.js';
export const createOnce = (options: OnceOptions = {}): Once => bare({ ...options, use: [...everything(), ...(options.use ?? [])] });
