/**
 * Goal: the work behind a stored link is asked after, and read, as its own request would have it. Method: pages that find the link alone,
 * with dialects that depend on the request, and with servers that know no keys.
 */
import { describe, expect } from 'vitest';
import { defineDialect, generic, inHeader } from '../../src/entries/dialects.js';
import { resumeOne } from '../../src/entries/index.js';
import { answers, charged, idle } from '../support/server.js';
import { NAME, pay, test, watched } from '../support/world.js';

const ACCEPTED = answers(202, '', { location: 'https://shop.example/jobs/1' });
const RUNNING = idle(answers(200, { state: 'running' }));
const POLLS = { accepted: 'poll', limits: { inProgressMs: 1 } } as const;

const bank = defineDialect({
  name: 'bank',
  place: inHeader('Idempotency-Key'),
  polled: ({ json }) => ((json as { result?: string }).result === 'DECLINED' ? 'failed' : undefined),
});

describe('a dialect that depends on the request', () => {
  const options = { ...POLLS, dialect: ({ url }: { url: string }) => (url.includes('/payments') ? bank : generic()) } as const;

  test('reads what is behind the link also after a reload, where nothing but the link is stored', async ({ world }) => {
    const { tab, once } = world.open(options);
    await world.end(tab, pay(once), idle(ACCEPTED), RUNNING);
    const next = tab.reload();
    const end = await world.end(next, watched(resumeOne(next.once(options), NAME)), idle(answers(200, { result: 'DECLINED' })));
    expect(end.outcome).toMatchObject({ type: 'rejected', effect: 'none' });
  });
});

describe('a server that knows no keys', () => {
  const options = { ...POLLS, dialect: 'none' } as const;

  test.for(['press', 'resume'] as const)('is asked at the link of its 202 after a reload (%s), and gets the request once', async (how, { world }) => {
    const { tab, once } = world.open(options);
    await world.end(tab, pay(once), charged(ACCEPTED), RUNNING);
    const next = tab.reload();
    const again = next.once(options);
    const end = await world.end(next, how === 'press' ? pay(again) : watched(resumeOne(again, NAME)), idle(answers(200, { state: 'done' })));
    expect(end.outcome).toMatchObject({ effect: 'done' });
    expect(world.server.arrivals.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET']);
  });
});
