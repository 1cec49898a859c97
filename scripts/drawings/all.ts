/** Each drawing, and where it is kept. */
import { life } from './life.ts';
import { lostAnswer } from './lost-answer.ts';
import { outcomeTree } from './outcome-tree.ts';
import type { Drawing } from './svg.ts';

export const drawings: Readonly<Record<string, Drawing>> = {
  'docs/images/life-of-an-operation.svg': life,
  'docs/images/lost-answer.svg': lostAnswer,
  'docs/images/which-outcome.svg': outcomeTree,
};
