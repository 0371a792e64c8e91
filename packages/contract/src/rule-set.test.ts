import { type TSchema, Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import { PricingRuleSetInput } from './pricing-rule-set.js';
import { ExtractorRuleSetInput } from './rule-set.js';

/** Returns the paths of the fields without a description. */
function undescribed(schema: TSchema, path = ''): string[] {
  if (Type.IsArray(schema)) return undescribed(schema.items, `${path}[]`);
  if (!Type.IsObject(schema)) return [];
  return Object.entries<TSchema>(schema.properties).flatMap(([name, field]) => {
    const at = path === '' ? name : `${path}.${name}`;
    const isDescribed = 'description' in field && field.description !== '';
    return [...(isDescribed ? [] : [at]), ...undescribed(field, at)];
  });
}

describe('the body of a rule set', () => {
  it.each([
    ['extractor', ExtractorRuleSetInput],
    ['pricing', PricingRuleSetInput],
  ])('of kind %s says what every field means', (_, schema) => {
    expect(undescribed(schema)).toEqual([]);
  });
});
