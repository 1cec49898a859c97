/** Goal: every dialect speaks to its server as that server documents. Method: `support/suite.ts`, once for each sample. */
import { describe } from 'vitest';
import { samples } from './support/all.js';
import { fixturesOf } from './support/fixtures.js';
import { readsFixtures, speaks } from './support/suite.js';

describe.each(Object.entries(samples))('%s', (name, sample) => {
  const fixtures = fixturesOf(sample.fixtures);
  // The first sample of a family has read the fixtures for the others.
  if (!name.includes(',')) readsFixtures(sample.dialect, fixtures);
  speaks(sample, fixtures);
});
