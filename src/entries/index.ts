export { canonicalJson } from '../core/canonical-json.js';
export type { Carry, Wire } from '../core/carrier.js';
export type { OnceErrorCode, UnknownReason, UnsentReason } from '../core/codes.js';
export { derived } from '../core/derived.js';
export type { Answer, AnswerKind, Asked, Dialect, Reading } from '../core/dialect.js';
export type { OnceEvent, WaitReason } from '../core/event.js';
export { type Explanation, explain } from '../core/explain.js';
export { type LineLog, logTo } from '../core/log-lines.js';
export type { OperationName } from '../core/name.js';
export type { Ending, Facts, Outcome } from '../core/outcome.js';
export type { Verdict } from '../core/verdict-words.js';
export { outcomeOf } from '../engine/outcome-of.js';
export type { Resumed } from '../engine/resuming.js';
export type { OperationState, PendingOperation } from '../engine/shown-state.js';
export { isOnceError, type OnceError } from '../errors.js';
export { answers } from '../features/answers.js';
export { type Around, type AroundAttempt, around, type SendAttempt } from '../features/around.js';
export { background, type InBackground, resumeInBackground } from '../features/background.js';
export { clear } from '../features/clear.js';
export { close } from '../features/close.js';
export { type SubscribeOptions, subscribe } from '../features/events.js';
export { extend } from '../features/extend.js';
export { forget } from '../features/forget.js';
export { hooks } from '../features/hooks.js';
export { insecureOrigins } from '../features/insecure-origins.js';
export { type WarnOnLeaveOptions, warnOnLeave } from '../features/leaving.js';
export { move } from '../features/move.js';
export { type Operation, type OperationRequestInit, operation } from '../features/operation.js';
export { type PendingOptions, pending } from '../features/pending.js';
export { polling } from '../features/polling.js';
export { reconciling } from '../features/reconciling.js';
export { requests } from '../features/requests.js';
export { type ResumeOptions, resume, resumeOne } from '../features/resume.js';
export { retrying } from '../features/retrying.js';
export { type Attempt, run } from '../features/run.js';
export { namespace, refresh, watch } from '../features/screens.js';
export { settle } from '../features/settle.js';
export { unnamed } from '../features/unnamed.js';
export { createOnce, type Once, type OnceRequestInit } from '../once.js';
export type {
  Evidence,
  Feature,
  Json,
  Keep,
  KeyStrategy,
  Leaving,
  Limits,
  OnceInit,
  OnceOptions,
  OperationOptions,
  Reconcile,
  ReconcileQuestion,
  RunEnd,
  RunOptions,
  StandardSchema,
} from '../option-types.js';
export type { Change, Changed, Connectivity, Durability, ScanPage, ScanQuery, Store, Stored, StoreFaultReason, Survives } from '../ports.js';
export { firstAvailable } from '../stores/browser/first-available.js';
export { type IndexedDbStoreOptions, indexedDbStore } from '../stores/browser/indexeddb.js';
export { type LocalStorageStoreOptions, localStorageStore } from '../stores/browser/local-storage.js';
export { type MemoryMedium, type MemoryStoreOptions, memoryStore } from '../stores/memory.js';
