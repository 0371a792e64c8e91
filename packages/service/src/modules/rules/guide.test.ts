import { readFileSync } from 'node:fs';
import type { ExtractorConfig } from '@tollgate/contract';
import { describe, expect, it } from 'vitest';
import { compileExpression, type ExpressionKind, FUNCTIONS } from './expression/index.js';
import { envWith, evaluated } from './expression/testing.js';
import { itemsOf, rate } from './testing.js';

const guide = readFileSync(new URL('../../../../../docs/guides/expressions.md', import.meta.url), 'utf8');

/** The fenced blocks of the guide whose info string is the given one. */
function blocksOf(info: string): string[] {
  return [...guide.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)]
    .filter(([, found]) => found === info)
    .map(([, , text]) => text as string);
}

const examples = (['unit_price', 'amount', 'match'] as const).flatMap((kind) =>
  blocksOf(`cel ${kind}`).flatMap((block) =>
    block
      .trim()
      .split('\n\n')
      .map((example) => {
        const [source, outcome] = example.split('\n// ') as [string, string];
        return { kind, source, outcome };
      }),
  ),
);

/** What the guide says of an expression, in its words. */
function outcomeOf(source: string, kind: ExpressionKind): string {
  const compiled = compileExpression(source, { kind });
  if (!compiled.ok) return `refused: ${compiled.issue.message}`;
  const result = evaluated(source, kind, envWith());
  return result.startsWith('fails: ') ? result : `→ ${result}`;
}

describe('the guide to expressions', () => {
  it.each(examples)('$source', ({ source, kind, outcome }) => {
    expect(outcomeOf(source, kind)).toBe(outcome);
  });

  it('names every function', () => {
    const missing = FUNCTIONS.filter(({ name }) => !guide.includes(`${name}(`));
    expect(missing.map(({ name }) => name)).toEqual([]);
  });

  it('rates its event by its rule set', () => {
    const [ruleSet, rawJson, chargeItems] = ['rule-set', 'raw-json', 'charge-items'].map(
      (name) => blocksOf(`json ${name}`)[0] as string,
    ) as [string, string, string];
    const config = JSON.parse(ruleSet) as ExtractorConfig;
    expect(itemsOf(rate(config, rawJson))).toMatchObject(JSON.parse(chargeItems) as object[]);
  });
});
