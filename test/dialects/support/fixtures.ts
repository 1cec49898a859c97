/** Documented answers, one file each, with their source. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Answer, AnswerKind, Asked, Dialect } from '../../../src/core/dialect.js';
import { readAnswer } from '../../../src/core/verdict.js';

export interface Fixture {
  readonly dialect: string;
  readonly name: string;
  readonly source: string;
  readonly shows: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** How it is read when nothing unsure came before it, and when something did. */
  readonly clean: AnswerKind;
  readonly ambiguous: AnswerKind;
  readonly sticky?: boolean;
  /** Of a refusal: whether it bears the replay marker. */
  readonly replayed?: boolean;
  readonly resource?: string;
  readonly waitsMs?: number;
}

const folder = join(import.meta.dirname, '../fixtures');

const load = (dialect: string): Fixture[] =>
  readdirSync(join(folder, dialect))
    .sort()
    .map((file) => ({
      dialect,
      name: file.replace('.json', ''),
      ...(JSON.parse(readFileSync(join(folder, dialect, file), 'utf8')) as Omit<Fixture, 'dialect' | 'name'>),
    }));

export const fixtureNames: readonly string[] = readdirSync(folder).sort();
export const fixtures: readonly Fixture[] = fixtureNames.flatMap(load);
export const fixturesOf = (dialect: string): readonly Fixture[] => fixtures.filter((one) => one.dialect === dialect);

/** An answer from data. */
export function answerOf({
  status,
  headers = {},
  body,
  type = 'default',
  redirected = false,
}: {
  status: number;
  headers?: Readonly<Record<string, string>>;
  body?: unknown;
  type?: string;
  redirected?: boolean;
}): Answer {
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  const known = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return { status, type, redirected, header: (name) => known.get(name.toLowerCase()) ?? null, text, json };
}

export const ASKED: Asked = { method: 'POST', key: '9f8b7c6d-5e4f-4a3b-8c2d-1e0f9a8b7c6d', refusesHtml: true, otherPayloads: true };

export const readFixture = (fixture: Pick<Fixture, 'status' | 'headers' | 'body'>, dialect: Dialect, ambiguous: boolean) =>
  readAnswer(answerOf(fixture), ASKED, dialect, ambiguous);
