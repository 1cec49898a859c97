/** What a snippet gets for `import … from 'oncefetch/node'`: the same, with a `createOnce` that has every feature. */
import { everything } from '../../../src/everything.js';
import type { Once } from '../../../src/once.js';
import type { OnceOptions } from '../../../src/option-types.js';
import { createOnce as bare } from './stage.js';

export * from '../../../src/entries/index.js';
export const createOnce = (options: OnceOptions = {}): Once => bare({ ...options, use: [...everything(), ...(options.use ?? [])] });
