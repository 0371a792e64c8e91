import { expect, it } from 'vitest';
import { stored } from '../../../testing/index.js';
import { CompiledRoute, LimitRuleIndex } from '../rules/index.js';
import type { CompiledRule } from '../rules/rule.js';
import { compiledRule } from '../rules/rule.testing.js';
import { toRealtimeLimit } from './limit-status.js';

/** Returns the entry of a limit of 10 of which 10 are used. */
function shown(change: Partial<CompiledRule>) {
  const rule = compiledRule(change);
  const settings = { timezone: 'UTC', weekStart: 'monday', anchorS: 0 } as const;
  const route = new CompiledRoute(
    'ra_1',
    { id: 'acct_1', externalId: null },
    settings,
    new LimitRuleIndex([rule]),
    0,
  );
  const subject = { type: 'user', id: 'u1' };
  const status = {
    at: { level: 0, subject, route },
    rule,
    window: { startS: 0, endS: 60 },
    hasStart: true,
    used: stored('10'),
    reserved: 0n,
    isSeen: false,
  };
  const raised = 0n;
  return toRealtimeLimit({ ...status, raised, limit: stored('10') });
}

it('shows the lists of a rule', () => {
  const listed = shown({
    selectorType: 'metrics',
    selectorValues: ['llm.a', 'llm.b'],
    dimension: { key: 'model', value: undefined, values: ['gpt-5*', 'o3'] },
  });
  expect(listed).toMatchObject({
    metric_scope: 'llm.a,llm.b',
    selector_values: ['llm.a', 'llm.b'],
    dimension_key: 'model',
    dimension_values: ['gpt-5*', 'o3'],
  });
  expect(listed).not.toHaveProperty('dimension_value');
  const single = shown({ dimension: { key: 'model', value: 'o3', values: undefined } });
  expect(single).toMatchObject({ dimension_key: 'model', dimension_value: 'o3' });
  expect(single).not.toHaveProperty('dimension_values');
  expect(single).not.toHaveProperty('selector_values');
});

it('shows the dimension of different values, and exceeds a greatest quantity only above its limit', () => {
  expect(shown({ measure: 'unique', of: 'seat' })).toMatchObject({ of: 'seat', exceeded: true });
  expect(shown({ measure: 'max' })).toMatchObject({ exceeded: false });
  expect(shown({})).toMatchObject({ exceeded: true });
  expect(shown({})).not.toHaveProperty('of');
});
