import { describe, expect, it } from 'vitest';
import { circleFindings } from './circle-rule.js';
import { codeFindings, FILE_LINES_MAX, FUNCTION_LINES_MAX } from './code-rules.js';
import { COMMENT_COLUMNS_MAX, commentFindings } from './comment-rules.js';
import { importFindings } from './import-rules.js';
import { parseCode } from './source.js';
import { dependencyFindings, textFindings } from './text-rules.js';

const src = (path: string) => `packages/service/src/${path}`;
const importRules = (path: string, code: string) =>
  importFindings(parseCode(src(path), code)).map((finding) => finding.rule);
const codeRules = (path: string, code: string) =>
  codeFindings(parseCode(path, code)).map((finding) => finding.rule);
const textRules = (text: string) => textFindings({ path: 'README.md', text }).map((finding) => finding.rule);

describe('import rules', () => {
  it.each([
    ['a module uses a lower one', 'modules/ingest/service.ts', `import { a } from '../rules/index.js';`],
    ['the kernel is open', 'modules/ingest/service.ts', `import { a } from '../../kernel/clock.js';`],
    ['files of one module', 'modules/rules/service.ts', `import { a } from './extract/index.js';`],
    ['a store queries', 'modules/rules/version-store.ts', `import { sql } from 'kysely';`],
    [
      'an edge opens a transaction',
      'modules/rules/service.ts',
      `import { transaction } from '../../platform/postgres/index.js';`,
    ],
    [
      'types of a port',
      'modules/rules/service.ts',
      `import type { Tx } from '../../platform/postgres/index.js';`,
    ],
    [
      'inline types',
      'modules/rules/service.ts',
      `import { type Tx } from '../../platform/postgres/index.js';`,
    ],
    [
      'a store of one project',
      'modules/boards/store.ts',
      `import type { ProjectDb } from '../../platform/postgres/index.js';`,
    ],
    [
      'a store of all projects',
      'modules/pipeline/batch-store.ts',
      `import type { Tx } from '../../platform/postgres/index.js';`,
    ],
    ['routes answer', 'modules/rules/routes.ts', `import { pageOf } from '../../platform/http/index.js';`],
    ['anyone refuses', 'modules/rules/service.ts', `import { DomainError } from '../../kernel/errors.js';`],
    [
      'main wires',
      'main/serve.ts',
      `import { a } from '../modules/ingest/index.js'; import { b } from '../config.js';`,
    ],
    ['hashes are pure', 'kernel/id.ts', `import { hash } from 'node:crypto';`],
    ['a test looks sideways', 'modules/pipeline/a.test.ts', `import { a } from '../ingest/index.js';`],
    [
      'test support uses test support',
      'modules/usage/events.testing.ts',
      `import { a } from '../../testing/index.js';`,
    ],
    ['a single file of platform', 'modules/rules/service.ts', `import { a } from '../../platform/wait.js';`],
  ])('allow: %s', (_name, path, code) => {
    expect(importRules(path, code)).toEqual([]);
  });

  it.each([
    ['import-direction', 'kernel/id.ts', `import { a } from '../platform/log/index.js';`],
    ['import-direction', 'modules/rules/service.ts', `import { a } from '../ingest/index.js';`],
    ['import-direction', 'modules/rules/service.ts', `export * from '../usage/index.js';`],
    ['import-direction', 'modules/rules/service.ts', `import type { A } from '../usage/index.js';`],
    ['import-direction', 'modules/ingest/service.ts', `import { a } from '../pipeline/index.js';`],
    ['import-direction', 'modules/ingest/service.ts', `const a = await import('../../main/serve.js');`],
    ['import-direction', 'modules/ingest/service.ts', `import { a } from '../../config.js';`],
    ['layers', 'modules/surprise/service.ts', `import { a } from 'typebox';`],
    ['index-only', 'modules/ingest/service.ts', `import { a } from '../rules/store.js';`],
    ['index-only', 'modules/ingest/a.test.ts', `import { a } from '../rules/extract/path.js';`],
    ['index-only', 'main/serve.ts', `import { a } from '../platform/postgres/connect.js';`],
    ['testing', 'modules/rules/service.ts', `import { a } from '../../testing/database.js';`],
    ['testing', 'modules/rules/service.ts', `import { a } from './rules.testing.js';`],
    ['database-in-stores', 'modules/rules/service.ts', `import { sql } from 'kysely';`],
    ['database-in-stores', 'modules/rules/restore.ts', `import { sql } from 'kysely';`],
    [
      'database-in-stores',
      'modules/rules/service.ts',
      `import { connectPostgres } from '../../platform/postgres/index.js';`,
    ],
    [
      'database-in-stores',
      'modules/usage/routes.ts',
      `import * as c from '../../platform/clickhouse/index.js';`,
    ],
    ['http-in-routes', 'modules/rules/service.ts', `import { pageOf } from '../../platform/http/index.js';`],
    ['http-in-routes', 'modules/rules/index.ts', `import type { App } from '../../platform/http/index.js';`],
    ['http-in-routes', 'platform/threads/pool.ts', `import type { App } from '../http/index.js';`],
    [
      'scoped-stores',
      'modules/boards/store.ts',
      `import type { Db } from '../../platform/postgres/index.js';`,
    ],
    ['scoped-stores', 'modules/boards/a-store.ts', `import * as p from '../../platform/postgres/index.js';`],
    ['scoped-stores', 'modules/boards/a-store.ts', `import type { Pool } from 'pg';`],
    [
      'scoped-stores',
      'modules/boards/a-store.ts',
      `import type { ClickHouse } from '../../platform/clickhouse/index.js';`,
    ],
    ['purity', 'kernel/id.ts', `import { readFileSync } from 'node:fs';`],
    ['owned-packages', 'modules/ingest/routes.ts', `import fastify from 'fastify';`],
    ['owned-packages', 'main/serve.ts', `import { Session } from 'chdb/connection';`],
  ])('%s: %s: %s', (rule, path, code) => {
    expect(importRules(path, code)).toContain(rule);
  });

  it('forbids the stores to pure rules', () => {
    const code = `import type { Tx } from '../../../platform/postgres/index.js';`;
    expect(importRules('modules/rules/pricing/tier.ts', code)).toEqual(['purity']);
  });
});

describe('the rule about circles', () => {
  const circlesOf = (files: Readonly<Record<string, string>>) =>
    circleFindings(Object.entries(files).map(([path, code]) => parseCode(src(path), code)));

  it.each([
    ['values', { 'main/a.ts': `import { b } from './b.js';`, 'main/b.ts': `import { a } from './a.js';` }],
    [
      'types',
      { 'main/a.ts': `import { b } from './b.js';`, 'main/b.ts': `import type { A } from './a.js';` },
    ],
    ['components', { 'a.tsx': `import { b } from './b.js';`, 'b.tsx': `import type { A } from './a.js';` }],
    [
      'three files',
      {
        'main/a.ts': `import { b } from './b.js';`,
        'main/b.ts': `export { c } from './c.js';`,
        'main/c.ts': `import { a } from './a.js';`,
      },
    ],
  ])('finds a circle of %s', (_name, files) => {
    const [finding, ...others] = circlesOf(files);
    expect(others).toEqual([]);
    expect(finding?.rule).toBe('import-circles');
    for (const path of Object.keys(files)) expect(finding?.advice).toContain(src(path));
  });

  it('allows two ways to one file', () => {
    const files = { 'a.ts': `import './b.js'; import './c.js';`, 'b.ts': `import './c.js';`, 'c.ts': '' };
    expect(circlesOf(files)).toEqual([]);
  });
});

describe('code rules', () => {
  const domain = src('modules/rules/service.ts');

  it.each([
    ['no-any', domain, 'const a: any = 1;'],
    ['no-any', domain, 'const a = f as unknown as any[];'],
    ['time', domain, 'const a = Date.now();'],
    ['time', domain, 'const a = Date["now"];'],
    ['time', domain, 'const a = new Date();'],
    ['chance', domain, 'const a = Math.random();'],
    ['environment', domain, 'const a = process.env.HOME;'],
    ['environment', src('platform/postgres/embedded.ts'), 'const { HOME } = process.env;'],
    ['environment', domain, 'run({ env: { ...process.env } });'],
    ['names', src('modules/rules/utils.ts'), ''],
    ['switched-off-tests', src('a.test.ts'), ['it', 'only("a", () => {});'].join('.')],
    ['switched-off-tests', src('a.test.ts'), ['describe.each([1])', 'skip("a", () => {});'].join('.')],
    ['file-size', domain, 'a;\n'.repeat(FILE_LINES_MAX + 1)],
    ['file-size', src('modules/pipeline/stages.ts'), 'a;\n'.repeat(151)],
    ['function-size', domain, `const f = () => {\n${'a;\n'.repeat(FUNCTION_LINES_MAX)}};`],
    ['function-size', domain, `class A { m() {\n${'a;\n'.repeat(FUNCTION_LINES_MAX)}} }`],
  ])('%s: %s: %.40s', (rule, path, code) => {
    expect(codeRules(path, code)).toContain(rule);
  });

  it.each([
    ['a date of something', domain, 'const a = new Date(0);'],
    ['words in strings', domain, `const a = "Date.now() any process.env";`],
    ['the clock', src('kernel/clock.ts'), 'const a = Date.now();'],
    ['the configuration', src('config.ts'), 'const a = process.env;'],
    ['a child’s environment', src('platform/wait.ts'), 'run({ env: { ...process.env, TZ: "UTC" } });'],
    ['a long suite', src('a.test.ts'), `describe("a", () => {\n${'a;\n'.repeat(FUNCTION_LINES_MAX)}});`],
    ['a generated file', domain, `// Generated by npm run x.\n${'a;\n'.repeat(FILE_LINES_MAX)}`],
    ['a full file', domain, 'a;\n'.repeat(FILE_LINES_MAX)],
    ['a full function', domain, `function f() {\n${'a;\n'.repeat(FUNCTION_LINES_MAX - 2)}}`],
    [
      'a forced any',
      domain,
      '// biome-ignore lint/suspicious/noExplicitAny: the driver says so\nlet a: any;',
    ],
  ])('allow %s', (_name, path, code) => {
    expect(codeRules(path, code)).toEqual([]);
  });
});

describe('text rules', () => {
  it.each([
    ['unfinished', `// ${'TO'}DO: later`],
    ['machine-path', `see /${'home'}/ann/project`],
    ['machine-path', `"/${'root'}/.cache"`],
    ['registry', `https://${'registry'}.npmjs.org/x`],
  ])('%s: %s', (rule, text) => {
    expect(textRules(text)).toEqual([rule]);
  });

  it('leaves ordinary prose alone', () => {
    expect(textRules('The root / home of it all: https://example.com/home/page, src/root/x')).toEqual([]);
  });

  it('wants exact versions and a whole lock file', () => {
    const manifest = { path: 'package.json', text: '{"dependencies":{"a":"^1.0.0","b":"1.0.0-rc.1"}}' };
    const lock = {
      path: 'package-lock.json',
      text: '{"packages":{"node_modules/a":{"optionalDependencies":{"a-linux":"1.0.0","a-mac":"1.0.0"}},"node_modules/a-linux":{}}}',
    };
    const found = dependencyFindings([manifest, lock]);
    expect(
      found.map(({ rule, advice }) => [rule, advice.includes('a-mac') || advice.includes('a ^1.0.0')]),
    ).toEqual([
      ['exact-versions', true],
      ['whole-lock-file', true],
    ]);
  });
});

describe('comment rules', () => {
  const commentRules = (text: string) =>
    commentFindings({ path: 'example.ts', text }).map((finding) => finding.rule);

  it.each([
    ['a sentence with subject and verb', '/** Returns the window. It opens at its start. */'],
    ['a line that goes on with the word', '// Nothing is left\n// of it.\n// Nobody asks\n// What is meant.'],
    ['code', `const text = 'Of all';`],
    ['a line of full width', `// ${'x'.repeat(COMMENT_COLUMNS_MAX - 3)}`],
    ['text that is no code', 'Of all'],
  ])('allow: %s', (_name, text) => {
    expect(commentRules(text)).toEqual([]);
  });

  it.each([
    ['comment-width', `// ${'x'.repeat(COMMENT_COLUMNS_MAX - 2)}`],
    ['comment-width', ` * ${'x'.repeat(COMMENT_COLUMNS_MAX)}`],
    ['comment-sentence', '/** Of all batches. */'],
    ['comment-sentence', '/**\n * What is kept.\n */'],
    ['comment-sentence', '// Kept. Whose it is, nobody knows.'],
    ['comment-sentence', '/** @returns What was found */'],
    ['comment-sentence', '// It opens.\n// Else it stays closed.'],
    ['comment-sentence', '{/* Of one page. */}'],
  ])('refuse %s: %s', (rule, text) => {
    expect(commentRules(text)).toEqual([rule]);
  });
});
