import type { ExtractorTemplate, RulesTestResult } from '@tollgate/contract';
import { describe, expect, it } from 'vitest';
import { matchesOf } from './match.js';

function template(id: string, sample: Record<string, unknown> = {}): ExtractorTemplate {
  return {
    ...{ id, title: id, description: '', payload: '', documentation_url: '', subject: {}, dimensions: [] },
    charge_item_extractors: [],
    samples: [{ title: '', raw_json: sample, subject: null, dimensions: {}, charge_items: [] }],
  };
}

function result(itemCount: number, change: Partial<RulesTestResult> = {}): RulesTestResult {
  const item = { metric: 'tokens' } as RulesTestResult['charge_items'][number];
  return {
    subject: null,
    dimensions: {},
    charge_items: Array.from({ length: itemCount }, () => item),
    unpriced: [],
    errors: [],
    notes: [],
    warnings: [],
    explanation: [],
    ...change,
  };
}

const ids = (matches: ReturnType<typeof matchesOf>) => matches.map(({ template: { id } }) => id);

describe('matchesOf', () => {
  it('puts first what reads most of the event', () => {
    const trials = [
      { template: template('less'), result: result(2) },
      { template: template('most'), result: result(5) },
    ];
    expect(ids(matchesOf({}, trials))).toEqual(['most', 'less']);
  });

  it('leaves out what fails, reads nothing or has no answer', () => {
    const error = { code: 'dimension_missing', message: '', path: null };
    const trials = [
      { template: template('fails'), result: result(3, { errors: [error] }) },
      { template: template('reads nothing'), result: result(0) },
      { template: template('unanswered'), result: undefined },
    ];
    expect(matchesOf({}, trials)).toEqual([]);
  });

  it('prefers, of equals, the one whose samples look like the event', () => {
    const trials = [
      { template: template('stranger', { id: 1 }), result: result(2) },
      { template: template('relative', { id: 1, stop_reason: null }), result: result(2) },
    ];
    expect(ids(matchesOf({ id: 'x', stop_reason: 'end' }, trials))).toEqual(['relative', 'stranger']);
  });

  it('prefers then the one that finds a subject or more dimensions', () => {
    const trials = [
      { template: template('anonymous'), result: result(2) },
      { template: template('knows who'), result: result(2, { subject: { type: 'user', id: 'u' } }) },
    ];
    expect(ids(matchesOf({}, trials))).toEqual(['knows who', 'anonymous']);
  });
});
