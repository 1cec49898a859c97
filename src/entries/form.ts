export { type ActionEnd, type ActionState, type FormActionClient, type FormActionOptions, formAction } from '../integrations/form/action.js';
export { defineOnceForm } from '../integrations/form/define.js';
export type { FormOptions, OnceFormElement } from '../integrations/form/options.js';
export type { FormMoment, FormOutcome, FormWords } from '../integrations/form/words.js';
