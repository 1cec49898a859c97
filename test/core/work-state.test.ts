/**
 * Goal: the state of a job is read from the status documents that services really send, and nothing is made up that they do not
 * say. Method: the documented form of each, in each of its states.
 */
import { describe, expect, test } from 'vitest';
import { type WorkState, workState } from '../../src/core/work-state.js';

const CASES: Record<string, readonly (readonly [unknown, WorkState | undefined])[]> = {
  'Azure, Azure-AsyncOperation and Operation-Location': [
    [{ id: '/subscriptions/1/operations/2', name: '2', status: 'InProgress' }, 'running'],
    [{ status: 'notStarted' }, 'running'],
    [{ status: 'CancelInProgress' }, 'running'],
    [{ status: 'Succeeded' }, 'done'],
    [{ status: 'Failed', error: { code: 'BadArgument', message: 'no' } }, 'failed'],
    [{ status: 'Canceled' }, 'failed'],
    [{ properties: { provisioningState: 'Updating' } }, 'running'],
    [{ properties: { provisioningState: 'Resizing' } }, 'running'],
    [{ properties: { provisioningState: 'Succeeded' } }, 'done'],
    [{ properties: { provisioningState: 'Failed' } }, 'failed'],
  ],
  'google.longrunning.Operation': [
    [{ name: 'operations/7', metadata: {} }, 'running'],
    [{ name: 'projects/p/operations/7', done: false }, 'running'],
    [{ name: 'operations/7', done: true, response: { state: 'PENDING' } }, 'done'],
    [{ name: 'operations/7', done: true, error: { code: 3, message: 'no' } }, 'failed'],
  ],
  'Compute Engine': [
    [{ kind: 'compute#operation', status: 'RUNNING', progress: 20 }, 'running'],
    [{ kind: 'compute#operation', status: 'DONE' }, 'done'],
    [{ kind: 'compute#operation', status: 'DONE', error: { errors: [{ code: 'QUOTA' }] } }, 'failed'],
  ],
  'JSON:API': [
    [{ data: { type: 'jobs', id: '1', attributes: { status: 'queued' } } }, 'running'],
    [{ data: { type: 'jobs', id: '1', attributes: { status: 'failed' } } }, 'failed'],
    [{ data: { type: 'jobs', id: '1', attributes: { state: 'completed' } } }, 'done'],
    [{ errors: [{ status: '422', code: 'too_long' }] }, 'running'],
  ],
  'plain jobs': [
    [{ jobId: '1', status: 'RUNNING' }, 'running'],
    [{ jobId: '1', status: 'SUCCEEDED' }, 'done'],
    [{ jobId: '1', status: 'FAILED', message: 'card declined' }, 'failed'],
    [{ jobId: '1', status: 'ABORTED' }, 'failed'],
    [{ jobId: '1', status: 'in-progress' }, 'running'],
    [{ state: 'cancelled' }, 'failed'],
    [{ id: 'j', status: 'error', message: 'card declined' }, 'failed'],
    [{ status: 'error', error: { code: 'card_declined' } }, 'failed'],
    [{ status: 'rejected' }, 'failed'],
    [{ response: { id: 1, status: 'PENDING' } }, 'running'],
    [{ job: { status: 'done' } }, 'done'],
    [{ status: { state: 'ERROR' } }, 'failed'],
    [{ id: 'p', done: true, status: 'failed' }, 'failed'],
    [{ id: 'p', done: true, status: 'succeeded' }, 'done'],
    [{ id: 'p', status: 'refused' }, 'failed'],
    [{ id: 'p', status: 'Unsuccessful' }, 'failed'],
    [{ status: 'completed', data: { status: 'pending' } }, 'done'],
    [{ status: 'completed', error: null }, 'done'],
  ],
  'a state that does not tell whether there was an effect': [
    [{ status: 'TIMED_OUT' }, 'running'],
    [{ status: 'completed', error: { code: 'half' } }, 'running'],
    [{ error: 'no session' }, 'running'],
    [{ success: false }, 'running'],
    [{ ok: false, error: 'rate_limited' }, 'running'],
    [{ data: { error: { code: 3 } } }, 'running'],
    [{ success: true, error: null }, undefined],
    [{ error: [], result: { id: 1 } }, undefined],
    [{ error: {}, result: { id: 1 } }, undefined],
    [{ status: 'ok', error: {} }, 'done'],
    [{ error: ['no session'] }, 'running'],
    [{ status: 'completed', success: false }, 'running'],
    [{ status: 'completed', success: false, message: 'card declined' }, 'running'],
    [{ state: 'done', errors: ['card declined'] }, 'running'],
    [{ done: true, success: false }, 'running'],
    [{ done: true, status: 'pending_review' }, 'running'],
    [{ success: false, data: { status: 'completed' } }, 'running'],
    [{ status: 'completed', error: {} }, 'done'],
    [{ id: 'j', done: true, error: {} }, 'done'],
    [{ status: 'completed', errors: [] }, 'done'],
  ],
  "a service's own word for work that is not done yet, or was not done": [
    ...['pending_review', 'PendingApproval', 'requires_action', 'requires_payment_method', 'awaiting_approval', 'on_hold', 'held', 'in_review', 'unpaid'],
    ...['incomplete', 'draft', 'payment_failed', 'CREATE_FAILED', 'upstream_failed', 'Terminated', 'REVOKED', 'interrupted', 'skipped', 'stopped', 'blocked'],
    ...['voided', 'waiting_for_funds', 'invalid', 'cancelled_by_bank'],
    ...['PAYER_ACTION_REQUIRED', 'authorization_required', 'CREATE_IN_PROGRESS', 'payment_in_progress', 'validating', 'Finalizing'],
    ...['initiated', 'transfer_initiated', 'requested', 'not_ready', 'ROLLBACK_COMPLETE', 'UPDATE_ROLLBACK_COMPLETE', 'rolled_back'],
  ].map((status) => [{ id: 'p', status }, 'running'] as const),
  "a service's own word for work that is done": `paid transferred captured approved confirmed reviewed settled active deferred threshold_reached CREATE_COMPLETE
    completed_without_errors unblocked avoided preview_ready trialing existing`
    .split(/\s+/)
    .map((status) => [{ id: 'p', status }, undefined] as const),
  'JSend, whose status is about the request and not about the job': [
    [{ status: 'success', data: { status: 'failed' } }, 'failed'],
    [{ status: 'success', data: { status: 'pending' } }, 'running'],
    [{ status: 'success', data: { id: 1 } }, 'done'],
    [{ status: 'error', message: 'Unable to communicate with database' }, 'running'],
    [{ status: 'fail', data: { id: 'no such job' } }, 'running'],
  ],
  'a document that has no state, or has it in prose': [
    [{ id: 'ch_1', amount: 4200 }, undefined],
    [{ status: 200 }, undefined],
    [{ status: 'paid' }, undefined],
    [{ status: 'It failed, see errors' }, undefined],
    [{ message: 'failed' }, undefined],
    [[], undefined],
    ['failed', undefined],
    [null, undefined],
    [undefined, undefined],
  ],
};

describe.each(Object.entries(CASES))('%s', (_, cases) => {
  test.each(cases)('%j is %s', (json, state) => expect(workState(json)).toBe(state));
});

test('a document that contains itself is read to an end', () => {
  const json: Record<string, unknown> = {};
  json['data'] = json;
  expect(workState(json)).toBeUndefined();
});
