/**
 * Goal: past its key window, the panel offers to send an operation again only if it waits for polled work, which needs
 * no key. Method: the panel's model and texts, over a record with a link and one without.
 */
import { expect, test } from 'vitest';
import { Model } from '../../src/devtools/model.js';
import type { Row } from '../../src/devtools/rows.js';
import { nextOf } from '../../src/devtools/words.js';
import type { Client } from '../../src/engine/client.js';
import { createOnce, requests } from '../../src/entries/index.js';
import { clientOf } from '../../src/once.js';
import { aRecord, NOW } from '../support/record.js';

test.each([
  ['without a link', undefined, NOW, false, /^The server may have forgotten the key/],
  ['with the link of a 202', 'https://shop.example/jobs/1', NOW, true, /goes on with the same key\.$/],
  ['that `move` has brought', undefined, 1, false, /^The server may not know the key in this account, so nothing is sent again/],
] as const)('an operation %s, past its key window', (_, link, windowEndsAt, sends, next) => {
  const client: Client = clientOf(createOnce({ namespace: 'ann', use: [requests()] }), 'test');
  const request = { method: 'POST', url: 'https://shop.example/pay', headers: [], body: '{}' } as never;
  const row = { id: 'id', key: 'k', status: 'unsettled', record: aRecord({ link, request, windowEndsAt }) } as unknown as Row;
  expect(Model.prototype.sends.call({ client } as Model, row)).toBe(sends);
  expect(nextOf(row, client, NOW + 1)[0]).toMatch(next);
});
