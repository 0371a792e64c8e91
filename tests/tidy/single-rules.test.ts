import { describe, expect, it } from 'vitest';
import { privateFindings, singleFindings } from './single-rules.js';
import { parseCode } from './source.js';

describe('rules for what the service has one of', () => {
  const singleRules = (path: string, code: string) =>
    singleFindings(parseCode(`packages/service/src/${path}`, code)).map((finding) => finding.rule);
  const race = 'await Promise.race([work, late]);';

  it.each([
    ['timer-race', `import { setTimeout as delay } from 'node:timers/promises'; ${race}`],
    ['timer-race', `const timer = setTimeout(() => reject(new Error()), 5); ${race}`],
    ['list-page', 'function list(): { rows: Row[]; totalCount: number } {}'],
    ['bounded-map', 'const oldest = map.keys().next().value;'],
    ['bounded-map', 'if (this.#known.size >= KNOWN_MAX) this.#known.clear();'],
    ['bounded-map', 'if (known.size + more > KNOWN_MAX) { known.clear(); }'],
    ['text-order', 'names.sort((a, b) => (a < b ? -1 : 1));'],
    ['text-order', 'const order = a.name < b.name ? -1 : Number(a.name > b.name);'],
  ])('refuse a second %s', (rule, code) => {
    expect(singleRules('modules/usage/x.ts', code)).toEqual([rule]);
  });

  it.each([
    ['platform/wait.ts', `setTimeout(stop, 5); ${race}`],
    ['kernel/bounded-map.ts', 'const oldest = map.keys().next().value;'],
    ['kernel/page.ts', 'interface ListPage { readonly totalCount: number }'],
    ['kernel/compare-text.ts', 'const order = a < b ? -1 : Number(a > b);'],
    ['modules/usage/x.ts', 'const sign = amount < 0n ? -1 : 1;'],
    ['modules/usage/x.ts', race],
    ['modules/usage/x.ts', 'if (map.size > 0) send(map.keys()); map.clear();'],
    ['modules/usage/x.test.ts', `setTimeout(stop, 5); ${race}`],
  ])('allow %s: %s', (path, code) => {
    expect(singleRules(path, code)).toEqual([]);
  });
});

describe('the rule for private members', () => {
  const privateRules = (code: string) =>
    privateFindings(parseCode('tests/x.ts', code)).map((finding) => finding.rule);

  it.each([
    'private readonly a = 1;',
    'private static a = 1;',
    'private a(): void {}',
    'private get a(): number { return 1; }',
    'constructor(private readonly a: number) {}',
    'constructor(private a = 1) {}',
  ])('refuses %s', (member) => {
    expect(privateRules(`class A { ${member} }`)).toEqual(['private-members']);
  });

  it.each([
    'readonly #a = 1;',
    '#a(): void {}',
    'private constructor(readonly a: number) {}',
    'protected a = 1;',
  ])('allows %s', (member) => {
    expect(privateRules(`class A { ${member} }`)).toEqual([]);
  });
});
