import { RULE_SET_CHANGES_BYTES_MAX, RULE_SET_CHANGES_MAX, type RuleSetChange } from '@tollgate/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boundChanges, diffConfigs } from './diff.js';

const rule = (metric: string, rest: object = {}) => ({ metric, unit_price_expr: 'dec(1)', ...rest });
const rules = (...list: object[]) => ({ rules: list });

describe('the changes between two versions', () => {
  it.each<[string, object, object, RuleSetChange[]]>([
    ['nothing', rules(rule('a')), rules({ unit_price_expr: 'dec(1)', metric: 'a' }), []],
    [
      'a field',
      { name: 'x', effective_from: 1 },
      { name: 'y', effective_from: 1 },
      [{ path: 'name', change: 'changed', before: 'x', after: 'y' }],
    ],
    [
      'a field of an object: added, removed, changed',
      { subject: { id_path: 'a', required: true } },
      { subject: { id_path: 'b', default_id: 'c' } },
      [
        { path: 'subject.id_path', change: 'changed', before: 'a', after: 'b' },
        { path: 'subject.required', change: 'removed', before: true },
        { path: 'subject.default_id', change: 'added', after: 'c' },
      ],
    ],
    [
      'fields of an entry, which is found by its name wherever it stands',
      rules(rule('a', { name: 'cheap' }), rule('b', { name: 'dear', priority: 1 })),
      rules(rule('b', { name: 'dear', match_expr: 'true', unit_price_expr: 'dec(2)' })),
      [
        { path: 'rules[cheap]', change: 'removed', before: rule('a', { name: 'cheap' }) },
        { path: 'rules[dear].unit_price_expr', change: 'changed', before: 'dec(1)', after: 'dec(2)' },
        { path: 'rules[dear].priority', change: 'removed', before: 1 },
        { path: 'rules[dear].match_expr', change: 'added', after: 'true' },
      ],
    ],
    [
      'an entry that was added, with its place',
      rules(rule('a'), rule('c')),
      rules(rule('a'), rule('b'), rule('c')),
      [{ path: 'rules[b]', change: 'added', after: rule('b'), position: 1 }],
    ],
    [
      'the one entry that moved, and not those it passed',
      rules(rule('a'), rule('b'), rule('c'), rule('d')),
      rules(rule('d'), rule('a'), rule('b'), rule('c')),
      [{ path: 'rules[d]', change: 'moved', position: 0 }],
    ],
    [
      'one of the rules without a name that price one metric',
      rules(rule('a'), rule('a', { match_expr: 'x' }), rule('a', { match_expr: 'y' })),
      rules(rule('a', { match_expr: 'x' }), rule('a', { match_expr: 'z' }), rule('a')),
      [
        { path: 'rules[a#3].match_expr', change: 'changed', before: 'y', after: 'z' },
        { path: 'rules[a]', change: 'moved', position: 2 },
      ],
    ],
    [
      'names that need quotes',
      { dimensions: [{ name: 'a].b', path: 'x' }] },
      { dimensions: [] },
      [{ path: 'dimensions["a].b"]', change: 'removed', before: { name: 'a].b', path: 'x' } }],
    ],
    [
      'a list of plain values as one value',
      { charge_item_extractors: [{ metric: 'a', less_paths: ['x', 'y'] }] },
      { charge_item_extractors: [{ metric: 'a', less_paths: ['y'] }] },
      [
        {
          path: 'charge_item_extractors[a].less_paths',
          change: 'changed',
          before: ['x', 'y'],
          after: ['y'],
        },
      ],
    ],
  ])('show %s', (_, before, after, changes) => {
    expect(diffConfigs(before, after)).toEqual(changes);
  });

  const text = fc.constantFrom('a', 'b', 'a#2', 'x]', '"a"');
  const entry = fc.record(
    { metric: text, name: text, priority: fc.nat(2), unit_price_expr: text },
    { requiredKeys: ['metric'] },
  );
  const config = fc.record(
    {
      name: text,
      subject: fc.record({ id_path: text, required: fc.boolean() }, { requiredKeys: [] }),
      rules: fc.array(entry, { maxLength: 8 }),
    },
    { requiredKeys: ['rules'] },
  );

  it('names an alias by its pattern', () => {
    const alias = (value: string) => ({ dimension: 'model', pattern: 'gpt-5-20*', value });
    expect(diffConfigs({ aliases: [alias('gpt-5')] }, { aliases: [alias('gpt-5-pro')] })).toEqual([
      { path: 'aliases["gpt-5-20*"].value', change: 'changed', before: 'gpt-5', after: 'gpt-5-pro' },
    ]);
  });

  it('applied to the version before give the version after', () => {
    fc.assert(
      fc.property(config, config, (before, after) => {
        expect(applied(before, diffConfigs(before, after))).toEqual(after);
      }),
      { numRuns: 500 },
    );
  });

  it('are none between equal versions', () => {
    fc.assert(
      fc.property(config, (same) => {
        expect(diffConfigs(same, structuredClone(same))).toEqual([]);
      }),
    );
  });
});

describe('a long list of changes', () => {
  const changes = (count: number, bytes: number): RuleSetChange[] =>
    Array.from({ length: count }, () => ({ path: 'name', change: 'added', after: 'x'.repeat(bytes) }));

  it('is whole up to its bounds', () => {
    const whole = changes(RULE_SET_CHANGES_MAX, 10);
    expect(boundChanges(whole)).toEqual({ changes: whole, changes_omitted: 0 });
    const [one] = changes(1, 0);
    const fits = changes(1, RULE_SET_CHANGES_BYTES_MAX - JSON.stringify(one).length);
    expect(boundChanges(fits).changes_omitted).toBe(0);
  });

  it('is cut at a number of changes and at a number of bytes, and says how much is missing', () => {
    const { changes: first, changes_omitted } = boundChanges(changes(RULE_SET_CHANGES_MAX + 7, 10));
    expect([first.length, changes_omitted]).toEqual([RULE_SET_CHANGES_MAX, 7]);
    const large = boundChanges(changes(5, RULE_SET_CHANGES_BYTES_MAX / 2));
    expect([large.changes.length, large.changes_omitted]).toEqual([1, 4]);
    expect(boundChanges(changes(3, RULE_SET_CHANGES_BYTES_MAX))).toEqual({ changes: [], changes_omitted: 3 });
  });
});

interface Labelled {
  readonly label: string;
  entry: Record<string, unknown>;
}

/** Applies changes as the documentation says, and relies on nothing else about their order. */
function applied(before: object, changes: readonly RuleSetChange[]): object {
  const result: Record<string, unknown> = structuredClone({ ...before });
  let list = labelled((result.rules ?? []) as Record<string, unknown>[]);
  const entryChanges = changes.filter(({ path }) => path.endsWith(']'));
  const taken = entryChanges.filter(({ change }) => change !== 'added').map(({ path }) => path);
  const byPath = new Map(list.map((each) => [`rules[${each.label}]`, each]));
  list = list.filter(({ label }) => !taken.includes(`rules[${label}]`));
  const placed = entryChanges.filter(({ position }) => position !== undefined);
  for (const { path, after, position = 0 } of placed.toSorted(
    (a, b) => (a.position ?? 0) - (b.position ?? 0),
  )) {
    const moved = byPath.get(path);
    list.splice(position, 0, moved ?? { label: path, entry: after as Record<string, unknown> });
  }
  for (const { path, change, after } of changes.filter(({ path }) => !path.endsWith(']'))) {
    const [, entryPath] = /^(rules\[.*\])\.\w+$/.exec(path) ?? [];
    const field = path.slice(path.lastIndexOf('.') + 1);
    const target = entryPath === undefined ? targetOf(result, path) : byPath.get(entryPath)?.entry;
    if (target === undefined) throw new Error(`there is no ${path}`);
    if (change === 'removed') delete target[field];
    else target[field] = after;
  }
  return { ...result, rules: list.map(({ entry }) => entry) };
}

function targetOf(config: Record<string, unknown>, path: string): Record<string, unknown> {
  return path.startsWith('subject.') ? (config.subject as Record<string, unknown>) : config;
}

function labelled(entries: readonly Record<string, unknown>[]): Labelled[] {
  const taken = new Set<string>();
  return entries.map((entry) => {
    const name = String(entry.name ?? entry.metric);
    let label = name;
    for (let number = 2; taken.has(label); number += 1) label = `${name}#${number}`;
    taken.add(label);
    return { label: /^[\w#]+$/.test(label) ? label : JSON.stringify(label), entry };
  });
}
