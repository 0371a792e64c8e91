import { describe, expect, it } from 'vitest';
import {
  afterChange,
  afterPreset,
  boundTo,
  countersIn,
  EMPTY_EVENT,
  extractorTrial,
  isComplete,
  savedExtractorTrial,
  trialBody,
  withTotals,
} from './trial-request.js';

describe('isComplete', () => {
  it.each([
    ['{}', '', true],
    ['{}', ' {"items": []} ', true],
    ['{', '', false],
    ['{}', '[]', false],
    ['', '', false],
  ])('of %j with x-billing %j: %j', (rawJson, billing, expected) => {
    expect(isComplete({ ...EMPTY_EVENT, rawJson, billing })).toBe(expected);
  });
});

describe('a preset', () => {
  const PRESET = { ...EMPTY_EVENT, rawJson: '{"a": 1}', billing: '{}' };

  it('fills what nobody has entered', () => {
    const typed = afterChange({}, { ...EMPTY_EVENT, subjectType: 'customer' });
    expect(afterPreset(typed, PRESET)).toEqual({ ...PRESET, subjectType: 'customer' });
    const billing = '{"items": []}';
    expect(afterPreset(afterChange({}, { ...EMPTY_EVENT, billing }), PRESET)).toMatchObject({
      rawJson: PRESET.rawJson,
      billing,
    });
  });

  it('does not come back where somebody entered an event, or emptied it', () => {
    const typed = afterChange({}, { ...EMPTY_EVENT, rawJson: '{' });
    expect(afterPreset(typed, PRESET)).toEqual({ rawJson: '{' });
    expect(afterPreset(afterChange(typed, EMPTY_EVENT), PRESET)).toEqual({ rawJson: '' });
  });
});

describe('trialBody', () => {
  it('sends the digits of the event as they were written', () => {
    const rawJson = '{"tokens": 12345678901234567890.123456789}';
    expect(trialBody({ extractor: {} }, { ...EMPTY_EVENT, rawJson })).toBe(
      `{"extractor":{},"event":{"raw_json":${rawJson}}}`,
    );
  });

  it('sends the fields next to raw_json, escaped', () => {
    const body = trialBody(
      { extractor_rule_set_id: 'ers_1' },
      { rawJson: '{}', billing: '{"items":[]}', subjectType: 'user', subjectId: '"u"\n' },
    );
    expect(JSON.parse(body)).toEqual({
      extractor_rule_set_id: 'ers_1',
      event: { raw_json: {}, 'x-billing': { items: [] }, subject_type: 'user', subject_id: '"u"\n' },
    });
  });
});

describe('the rules of a trial', () => {
  it('have the prices that were chosen', () => {
    expect(extractorTrial({ dimensions: [] }, { ruleSetId: 'prs_1', version: 2 })).toEqual({
      extractor: { dimensions: [] },
      pricing_rule_set_id: 'prs_1',
      pricing_version: 2,
    });
  });

  it('have no prices where none were chosen, also where some are bound', () => {
    expect(savedExtractorTrial('ers_1', 3, undefined)).toEqual({
      extractor_rule_set_id: 'ers_1',
      version: 3,
      pricing: { rules: [] },
    });
  });
});

describe('boundTo', () => {
  it.each([
    [{ extractor_rule_set_id: 'ers_1' }, 'ers_1'],
    [{ extractor_rule_set_id: '' }, undefined],
    [{ extractor_rule_set_id: 7 }, undefined],
    [null, undefined],
    [undefined, undefined],
    ['text', undefined],
  ])('of %j: %j', (draft, expected) => {
    expect(boundTo(draft)).toBe(expected);
  });
});

describe('the totals before a tested event', () => {
  const by = (counter: unknown) => ({ cumulative: { counter } });

  it('are those of the counters of all rules', () => {
    expect(
      countersIn(
        { charge_item_extractors: [by('a'), {}, null, by('a')] },
        { rules: [by('b'), by(''), by(5), { cumulative: null }] },
        undefined,
        { rules: 'none' },
        'text',
      ),
    ).toEqual(['a', 'b']);
  });

  it('are sent if they are numbers of counters that exist', () => {
    const given = { a: '40.5', b: '4e3', c: '1', d: '', e: '-1' };
    expect(withTotals({ version: 1 }, ['a', 'b', 'd', 'e'], given)).toEqual({
      version: 1,
      totals: { a: '40.5' },
    });
    expect(withTotals({ version: 1 }, ['d'], given)).toEqual({ version: 1 });
    expect(withTotals(undefined, ['a'], given)).toBeUndefined();
  });
});
