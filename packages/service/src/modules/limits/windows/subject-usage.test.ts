import { expect, it } from 'vitest';
import { AccountDebits } from '../posting/debits.js';
import { ratedUsage } from '../posting/usage.testing.js';
import { CompiledRoute, LimitRuleIndex } from '../rules/index.js';
import { compiledRule } from '../rules/rule.testing.js';
import { UsageCounter } from './subject-usage.js';

it('stops the batch rather than count usage under another rule', () => {
  const scope = { tenantId: 'ten_1', projectId: 'prj_1', projectNo: 1 };
  const rules = new LimitRuleIndex([compiledRule({ ruleNo: 1 })]);
  rules.visit = (_metric, _textOf, count) => count(compiledRule({ ruleNo: 2 }));
  const settings = { timezone: 'UTC', weekStart: 'monday', anchorS: 0 } as const;
  const usage = {
    scope,
    subject: { type: 'user', id: 'u1' },
    route: new CompiledRoute('ra_1', { id: 'acct_1', externalId: null }, settings, rules, 0),
    account: new AccountDebits('acct_1', scope, 0),
    above: [],
    parents: [],
    latest: [],
    all: undefined,
  };
  expect(() => new UsageCounter().add(usage, ratedUsage({}))).toThrow('rule 2 does not belong to its route');
});
