export type { Clock } from '../ports.js';
export { type Fault, type FaultName, Faults, faultNames } from '../testing/faults.js';
export { type FaultyStoreOptions, faultyStore, type StoreFaultName, StoreFaults, type StoreTrouble, storeFaultNames } from '../testing/faulty-store.js';
export { type IdempotentServer, type IdempotentServerOptions, idempotentServer } from '../testing/idempotent-server.js';
export type { SentCopy } from '../testing/model-network.js';
export type { Effect } from '../testing/model-server.js';
export { seededRandom } from '../testing/seeded-random.js';
export { type StoreContractOptions, type StoreContractReport, storeContract } from '../testing/store-contract.js';
export { type VirtualClock, type VirtualClockOptions, virtualClock } from '../testing/virtual-clock.js';
