import type { ExtractorConfig } from '@tollgate/contract';
import { describe, expect, it } from 'vitest';
import { type Guide, readGuide, sectionsOf } from '../../testing/guide.js';
import { compileExpression, type ExpressionKind, FUNCTIONS } from './expression/index.js';
import { envWith, evaluated } from './expression/testing.js';
import { itemsOf, rate } from './testing.js';

const guide = readGuide('expressions');

const KINDS = ['unit_price', 'amount', 'match'] as const;

function examplesOf(part: Guide) {
  return KINDS.flatMap((kind) =>
    part.blocks(`cel ${kind}`).flatMap((block) =>
      block
        .trim()
        .split('\n\n')
        .map((example) => {
          const [source, outcome] = example.split('\n// ') as [string, string];
          return { kind, source, outcome };
        }),
    ),
  );
}

/** Returns the outcome of an expression in the words of the guide. */
function outcomeOf(source: string, kind: ExpressionKind): string {
  const compiled = compileExpression(source, { kind });
  if (!compiled.ok) return `refused: ${compiled.issue.message}`;
  const result = evaluated(source, kind, envWith());
  return result.startsWith('fails: ') ? result : `→ ${result}`;
}

describe('the guide to expressions', () => {
  it.each(examplesOf(guide))('$source', ({ source, kind, outcome }) => {
    expect(outcomeOf(source, kind)).toBe(outcome);
  });

  /** `dec_add(a, b)` is the section of dec_add, `text.trim()` that of the method trim. */
  const functionSections = new Map(
    [...sectionsOf(guide, 3)].map(([title, section]) => [/(\w+)\(/.exec(title)?.[1] ?? title, section]),
  );

  it('has a section for every function, and for nothing else', () => {
    const names = new Set(FUNCTIONS.map(({ name }) => name));
    expect([...functionSections.keys()].sort()).toEqual([...names].sort());
  });

  it.each([...functionSections])('shows how %s is called', (name, section) => {
    const examples = examplesOf(section);
    const calls = examples.filter(({ source }) => source.includes(`${name}(`));
    expect(calls.some(({ outcome }) => outcome.startsWith('→ '))).toBe(true);
    expect(section.text).toMatch(/`\S.* → (Decimal|int|bool|string|double|any)`/);
  });

  it('rates its event by its rule set', () => {
    const [ruleSet, rawJson, chargeItems] = ['rule-set', 'raw-json', 'charge-items'].map(
      (name) => guide.blocks(`json ${name}`)[0] as string,
    ) as [string, string, string];
    const config = JSON.parse(ruleSet) as ExtractorConfig;
    expect(itemsOf(rate(config, rawJson))).toMatchObject(JSON.parse(chargeItems) as object[]);
  });
});
