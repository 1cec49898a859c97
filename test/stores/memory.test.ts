/** The memory store against the contract, and what is its own. */
import { afterAll, expect, test } from 'vitest';
import { defaultMemoryStore, type MemoryMedium, memoryMedium, memoryStore } from '../../src/stores/memory.js';
import { storeContract } from '../../src/testing/store-contract.js';

const media = new Map<string, MemoryMedium>();
const mediumOf = (name: string): MemoryMedium => media.get(name) ?? media.set(name, memoryMedium()).get(name) as MemoryMedium;

const report = storeContract({
  name: 'memory',
  test,
  open: (medium) => memoryStore({ medium: mediumOf(medium) }),
  plant: (medium, id, value) => mediumOf(medium).set(id, value),
});

afterAll(() => expect(report.left.map(({ because }) => because)).toEqual(['no `work` was given']));
