/** Goal: every dialect is spoken as its server documents it. Method: `support/suite.ts`, once for each sample. */
import { describe } from 'vitest';
import { samples } from './support/all.js';
import { fixturesOf } from './support/fixtures.js';
import { readsFixtures, speaks } from './support/suite.js';

describe.each(Object.entries(samples))('%s', (name, sample) => {
  const fixtures = fixturesOf(sample.fixtures);
  // Of the others in its family, the first one has read them.
  if (!name.includes(',')) readsFixtures(sample.dialect, fixtures);
  speaks(sample, fixtures);
});
