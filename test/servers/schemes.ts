/** Every scheme: its server, and the client that the pages show. */
import { server as acceptedStatusServer } from './accepted-status.js';
import { client as acceptedStatus } from './clients/accepted-status.js';
import { client as dedupTable } from './clients/dedup-table.js';
import { client as distributedLock } from './clients/distributed-lock.js';
import { client as duplicateFilter } from './clients/duplicate-filter.js';
import { client as etagIfMatch } from './clients/etag-if-match.js';
import { client as idempotencyKeys } from './clients/idempotency-keys.js';
import { client as messageOutbox } from './clients/message-outbox.js';
import { client as oneTimeToken } from './clients/one-time-token.js';
import { client as operationLog } from './clients/operation-log.js';
import { client as optimisticVersion } from './clients/optimistic-version.js';
import { client as pessimisticLock } from './clients/pessimistic-lock.js';
import { client as queryAfterTimeout } from './clients/query-after-timeout.js';
import { client as selectThenInsert } from './clients/select-then-insert.js';
import { client as snowflakeIds } from './clients/snowflake-ids.js';
import { client as stateMachine } from './clients/state-machine.js';
import { client as uniqueConstraint } from './clients/unique-constraint.js';
import { client as webhookEvents } from './clients/webhook-events.js';
import { server as dedupTableServer } from './dedup-table.js';
import { server as distributedLockServer } from './distributed-lock.js';
import { server as duplicateFilterServer } from './duplicate-filter.js';
import { server as etagIfMatchServer } from './etag-if-match.js';
import { server as idempotencyKeysServer } from './idempotency-keys.js';
import { server as messageOutboxServer } from './message-outbox.js';
import { server as oneTimeTokenServer } from './one-time-token.js';
import { server as operationLogServer } from './operation-log.js';
import { server as optimisticVersionServer } from './optimistic-version.js';
import { server as pessimisticLockServer } from './pessimistic-lock.js';
import { server as queryAfterTimeoutServer } from './query-after-timeout.js';
import { server as selectThenInsertServer } from './select-then-insert.js';
import { server as snowflakeIdsServer } from './snowflake-ids.js';
import { server as stateMachineServer } from './state-machine.js';
import type { Scheme } from './support/run.js';
import { server as uniqueConstraintServer } from './unique-constraint.js';
import { server as webhookEventsServer } from './webhook-events.js';

export const schemes: Readonly<Record<string, Scheme>> = {
  'idempotency-keys': { server: idempotencyKeysServer, client: idempotencyKeys },
  'duplicate-filter': { server: duplicateFilterServer, client: duplicateFilter },
  'unique-constraint': { server: uniqueConstraintServer, client: uniqueConstraint },
  'optimistic-version': { server: optimisticVersionServer, client: optimisticVersion },
  'operation-log': { server: operationLogServer, client: operationLog },
  'one-time-token': { server: oneTimeTokenServer, client: oneTimeToken, refuses: 10 },
  'etag-if-match': { server: etagIfMatchServer, client: etagIfMatch },
  'message-outbox': { server: messageOutboxServer, client: messageOutbox },
  'select-then-insert': { server: selectThenInsertServer, client: selectThenInsert },
  'state-machine': { server: stateMachineServer, client: stateMachine },
  'dedup-table': { server: dedupTableServer, client: dedupTable },
  'pessimistic-lock': { server: pessimisticLockServer, client: pessimisticLock },
  'distributed-lock': { server: distributedLockServer, client: distributedLock },
  'accepted-status': { server: acceptedStatusServer, client: acceptedStatus, refuses: 100 },
  // Without a key, the server cannot recognise a second copy on the network, so two copies are two transfers.
  'query-after-timeout': { server: queryAfterTimeoutServer, client: queryAfterTimeout, spared: ['duplicate'] },
  'webhook-events': { server: webhookEventsServer, client: webhookEvents },
  'snowflake-ids': { server: snowflakeIdsServer, client: snowflakeIds },
};
