import {
  type ExtractorTemplate,
  ExtractorTemplateList,
  LESS_PATHS_MAX,
  METRIC_PATTERN,
  RULE_SET_DIMENSIONS_MAX,
  RULE_SET_EXTRACTORS_MAX,
} from '@tollgate/contract';
import { Value } from 'typebox/value';
import { describe, expect, it } from 'vitest';
import { compileSumPath } from '../extract/sum-path.js';
import { itemsOf, rate } from '../testing.js';
import { expandTemplate, TEMPLATES } from './index.js';

const rateSample = (template: ExtractorTemplate, rawJson: Record<string, unknown>) =>
  rate(expandTemplate({ template_id: template.id }), JSON.stringify(rawJson));

describe.each(TEMPLATES)('$id', (template) => {
  it.each(template.samples)('reads what it says: $title', (sample) => {
    const rated = rateSample(template, sample.raw_json);
    expect(itemsOf(rated).map(({ metric, unit, quantity }) => ({ metric, unit, quantity }))).toEqual(
      sample.charge_items,
    );
    const dimensions = Array.from(rated.dimensions, ([name, value]) => [name, String(value)]);
    expect(Object.fromEntries(dimensions)).toEqual(sample.dimensions);
    expect(rated.subject ?? null).toEqual(sample.subject);
  });

  it('reads each of its charge items and dimensions in some sample', () => {
    const rated = template.samples.map((sample) => rateSample(template, sample.raw_json));
    const names = rated.flatMap((event) => itemsOf(event).map(({ extractorName }) => extractorName));
    const unread = template.charge_item_extractors.filter(({ name }) => !names.includes(name));
    expect(unread.map(({ name }) => name)).toEqual([]);
    const dimensions = new Set(rated.flatMap((event) => [...event.dimensions.keys()]));
    expect([...dimensions].sort()).toEqual(template.dimensions.map(({ name }) => name).sort());
  });

  it('names every quantity, its unit and its metric', () => {
    for (const { name, metric, unit } of template.charge_item_extractors) {
      expect([name, unit], metric).toEqual([expect.stringMatching(/\S/), expect.stringMatching(/\S/)]);
      expect(metric).toMatch(new RegExp(METRIC_PATTERN));
    }
  });

  it('subtracts only what another of its charge items reports', () => {
    const reported = template.charge_item_extractors.map(({ path }) => path);
    for (const { less_paths: lessPaths = [] } of template.charge_item_extractors) {
      expect(reported).toEqual(expect.arrayContaining(lessPaths));
      expect(lessPaths.length).toBeLessThanOrEqual(LESS_PATHS_MAX);
    }
  });

  it('stays within the limits, and never requires a subject', () => {
    expect(template.charge_item_extractors.length).toBeLessThanOrEqual(RULE_SET_EXTRACTORS_MAX);
    expect(template.dimensions.length).toBeLessThanOrEqual(RULE_SET_DIMENSIONS_MAX);
    expect(template.subject.required ?? false).toBe(false);
    expect(template.documentation_url).toMatch(/^https:\/\//);
  });
});

describe('all templates', () => {
  it('are as the contract says', () => {
    expect([...Value.Errors(ExtractorTemplateList, { templates: TEMPLATES })]).toEqual([]);
  });

  it('have ids of their own', () => {
    expect(new Set(TEMPLATES.map(({ id }) => id)).size).toBe(TEMPLATES.length);
  });
});

/** The total of a call's tokens, as its provider states it. */
const TOKENS_IN_ALL: Readonly<Record<string, readonly string[]>> = {
  openai_chat_completions: ['usage.total_tokens'],
  openai_responses: ['usage.total_tokens'],
  anthropic_messages: [
    'usage.input_tokens',
    'usage.cache_creation_input_tokens',
    'usage.cache_read_input_tokens',
    'usage.output_tokens',
    "usage.iterations[?@.type == 'compaction'].input_tokens",
    "usage.iterations[?@.type == 'compaction'].output_tokens",
  ],
  google_gemini: ['usageMetadata.totalTokenCount'],
  aws_bedrock_converse: ['usage.totalTokens'],
};

describe('the tokens of a call', () => {
  const llm = TEMPLATES.filter(({ id }) => Object.hasOwn(TOKENS_IN_ALL, id));

  it('are looked at for every provider', () => {
    expect(llm.map(({ id }) => id)).toEqual(Object.keys(TOKENS_IN_ALL));
  });

  it.each(llm.flatMap(({ id, samples }) => samples.map((sample) => ({ ...sample, id }))))(
    'are charged once each: $id, $title',
    ({ id, raw_json, charge_items }) => {
      const charged = charge_items
        .filter(({ unit }) => unit === 'token')
        .map(({ quantity }) => Number(quantity));
      const stated = (TOKENS_IN_ALL[id] ?? []).flatMap((path) => {
        const compiled = compileSumPath(path);
        return compiled.ok ? (compiled.read(raw_json) ?? []).map(Number) : [Number.NaN];
      });
      const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
      expect(sum(charged)).toBe(sum(stated));
    },
  );
});

describe('a template in a rule set', () => {
  const [template] = TEMPLATES as [ExtractorTemplate];

  it('gives each field that the rule set itself does not have', () => {
    expect(expandTemplate({ template_id: template.id, name: 'Chat', effective_from: 5 })).toEqual({
      subject: template.subject,
      dimensions: template.dimensions,
      charge_item_extractors: template.charge_item_extractors,
    });
  });

  it.each([
    ['subject', { subject: { default_type: 'team', id_path: 'team' } }],
    ['an empty subject', { subject: {} }],
    ['dimensions', { dimensions: [{ name: 'region', path: 'region', type: 'string' as const }] }],
    ['no dimension', { dimensions: [] }],
    ['charge items', { charge_item_extractors: [{ metric: 'calls', path: 'n', type: 'number' as const }] }],
    ['no charge item', { charge_item_extractors: [] }],
  ])('gives way, as a whole, to what the rule set says: %s', (_, fields) => {
    const { subject, dimensions, charge_item_extractors } = template;
    expect(expandTemplate({ template_id: template.id, ...fields })).toEqual({
      subject,
      dimensions,
      charge_item_extractors,
      ...fields,
    });
  });

  it('is nothing where none is named', () => {
    expect(expandTemplate({ name: 'Mine', effective_from: 5 })).toEqual({});
    const dimensions = [{ name: 'region', path: 'region', type: 'string' as const }];
    expect(expandTemplate({ dimensions })).toEqual({ dimensions });
  });

  it.each(['', 'nope', 'openai', 'constructor', '__proto__'])('must exist: %j does not', (id) => {
    const known = TEMPLATES.map((each) => each.id).join(', ');
    expect(() => expandTemplate({ template_id: id })).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        details: [{ path: 'template_id', message: `expected one of ${known}` }],
      }),
    );
  });
});
