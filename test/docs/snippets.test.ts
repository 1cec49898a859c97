/**
 * Goal: everything that README and docs show works as it stands there. Method: compiles every snippet in one strict
 * program, then runs it against a real HTTP server that honours keys and loses the answers that it is told to lose. The
 * comment right before a snippet says what must come of it. A snippet that needs something that Node lacks says so, and
 * is only compiled.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { root } from './support/markdown.js';
import { excerpts, fences, type Snippet, snippets, write } from './support/snippets.js';
import { enter, leave, shop, show, shown } from './support/stage.js';
import { typeErrors } from './support/typecheck.js';
import { runTests } from './support/vitest.js';

const MINUTE = 60_000;
vi.setConfig({ testTimeout: MINUTE / 2, hookTimeout: MINUTE });

/** A program with a mistake in its second line, compiled in place of the first snippet. */
const wrong: Snippet = {
  ...(snippets[0] as Snippet),
  source: "import { createOnce } from 'oncefetch';\ncreateOnce({ namespase: 'a' });\nexport {};\n",
  checked: (snippets[0] as Snippet).checked.replace(/\.tsx?$/, '-wrong.ts'),
  run: (snippets[0] as Snippet).run.replace(/\.tsx?$/, '-wrong.ts'),
  before: 0,
  line: 1,
};
write([...snippets, wrong]);
const found = typeErrors([...snippets, wrong]);
const running = snippets.filter(({ typesOnly }) => typesOnly === undefined);

test('there are snippets, including some in README', () => {
  expect(running.length).toBeGreaterThan(10);
  expect(running.some(({ at }) => at.startsWith('README.md:'))).toBe(true);
});

test.each(snippets.map((snippet) => [snippet.at, snippet] as const))('%s compiles', (_, snippet) => expect(found.get(snippet)).toEqual([]));

test('the check notices a snippet with a mistake', () => expect(found.get(wrong)?.join()).toContain('line 2'));

describe('runs', () => {
  afterEach(async () => {
    vi.restoreAllMocks();
    await leave();
  });

  test.each(running.map((snippet) => [snippet.at, snippet] as const))('%s', async (_, snippet) => {
    const { expects, place, faults, run } = snippet;
    expect(
      Object.values(expects).some((one) => one !== undefined),
      'it says what must come of it',
    ).toBe(true);
    await enter(place);
    shop().server.faults.next(...faults);
    vi.spyOn(console, 'log').mockImplementation(show);
    const end = await import(/* @vite-ignore */ run).then(runTests).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (end !== undefined && expects.rejects === undefined) throw end;
    expect(actual(snippet, end)).toEqual(wanted(snippet));
  });

  test('the check notices a snippet that sends no key', async () => {
    const [first] = running as [Snippet];
    const run = first.run.replace(/\.ts$/, '-keyless.ts');
    const source = first.source.replace("once: ['pay', cart.id]", 'once: false');
    expect(source).not.toBe(first.source);
    write([{ ...first, run, source }]);
    await enter(first.place);
    shop().server.faults.next(...first.faults);
    await import(/* @vite-ignore */ run).catch(() => {});
    expect(actual(first, undefined)).not.toEqual(wanted(first));
  });
});

const wanted = ({ expects }: Snippet): object => Object.fromEntries(Object.entries(expects).filter(([, value]) => value !== undefined));

function actual({ expects }: Snippet, end: unknown): object {
  const { server } = shop();
  const error = end as { code?: string; name?: string } | undefined;
  const all = {
    shows: shown(),
    charges: server.effects.length,
    requests: server.requests.length,
    keys: new Set(server.requests.map(({ key }) => key)).size,
    passes: Math.min(expects.passes ?? 0, shown().filter((line) => line.startsWith('passed: ')).length),
    rejects: error?.code ?? error?.name,
  };
  return Object.fromEntries(Object.entries(all).filter(([name]) => expects[name as keyof typeof expects] !== undefined));
}

describe('a fence that is no program', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
  const BUILT_IN = ['ci', 'install', 'pack', 'test'];

  test.each(fences.filter(({ language }) => language === 'sh').map((fence) => [`${fence.path}:${fence.line}`, fence.code] as const))(
    '%s: its commands exist',
    (_, code) => {
      const commands = code.split(/\n|&&/).map((line) => line.replace(/#.*$/, '').trim());
      for (const command of commands.filter(Boolean)) {
        const [tool, verb = '', ...rest] = command.split(/\s+/);
        if (tool === 'cd' || tool === 'git') continue;
        expect(tool, command).toMatch(/^(npm|npx)$/);
        if (tool === 'npm' && verb === 'run') expect(Object.keys(scripts), command).toContain(rest[0]);
        else if (tool === 'npm') expect(BUILT_IN, command).toContain(verb);
        else for (const path of rest.filter((word) => /\.test\.ts$/.test(word))) expect(existsSync(join(root, path)), command).toBe(true);
      }
    },
  );

  test.each(fences.filter(({ language }) => language === 'json').map((fence) => [`${fence.path}:${fence.line}`, fence.code] as const))(
    '%s: is JSON',
    (_, code) => {
      expect(() => JSON.parse(code)).not.toThrow();
    },
  );

  test.each(excerpts.map((fence) => [`${fence.path}:${fence.line}`, fence] as const))(
    '%s: is the text of a file that other tests run',
    (_, { code, wants }) => {
      expect([...wants.keys()]).toEqual(['file']);
      const [file = ''] = wants.get('file') ?? [];
      expect(file).toMatch(/^(test\/frameworks\/[\w-]+|playground\/page\/once-form)\//);
      // The lines of an excerpt are shown without their indent in the page.
      const text = (of: string): string => (file.endsWith('.html') ? of.replaceAll(/^ +/gm, '') : of);
      expect(text(`\n${readFileSync(join(root, file), 'utf8')}`)).toContain(text(`\n${code}`));
    },
  );

  test('every fence is plain text or of a kind that these tests check', () => {
    const kinds = ['ts', 'tsx', 'js', 'sh', 'sql', 'json', 'text', 'http', 'svelte', 'html'];
    expect(fences.filter(({ language }) => !kinds.includes(language)).map(({ path, line }) => `${path}:${line}`)).toEqual([]);
  });
});

afterAll(() => {
  const apart = snippets.filter(({ typesOnly }) => typesOnly !== undefined);
  const why = apart.map(({ at, typesOnly }) => `\n  ${at}: ${typesOnly}`).join('');
  process.stdout.write(`docs: ${snippets.length} snippets, ${running.length} run, ${apart.length} only compiled${why}\n`);
});
