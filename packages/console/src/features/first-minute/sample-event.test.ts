import { describe, expect, it } from 'vitest';
import { sampleEventOf } from './sample-event.js';

const NOTHING = { subject: {}, dimensions: [], charge_item_extractors: [] };

describe('sampleEventOf', () => {
  it('has something wherever the rules look', () => {
    expect(
      sampleEventOf({
        subject: { default_type: 'customer', id_path: '$.customer' },
        dimensions: [
          { name: 'model', path: 'model', type: 'string' },
          { name: 'stream', path: "$['options']['stream']", type: 'boolean' },
        ],
        charge_item_extractors: [
          {
            metric: 'in',
            path: '$.usage.input',
            less_paths: ['usage.cached'],
            type: 'number',
          },
          { metric: 'cached', path: 'usage.cached', type: 'decimal_string' },
        ],
      }),
    ).toEqual({
      customer: 'customer-1',
      model: 'example',
      options: { stream: true },
      usage: { input: 200, cached: '100' },
    });
  });

  it('makes lists where a path counts', () => {
    const extractor = { metric: 'm', path: '$.choices[0].tokens', type: 'number' } as const;
    expect(sampleEventOf({ ...NOTHING, charge_item_extractors: [extractor] })).toEqual({
      choices: [{ tokens: 100 }],
    });
  });

  it('has the entry of a list that is added up, as its filter asks for it', () => {
    const extractor = {
      metric: 'm',
      sum_paths: ["$.usage[*].details[?@.modality == 'TEXT'].count", 'other'],
      type: 'number' as const,
    };
    expect(sampleEventOf({ ...NOTHING, charge_item_extractors: [extractor] })).toEqual({
      usage: [{ details: [{ modality: 'TEXT', count: 100 }] }],
    });
  });

  it('has the number that a dimension adds up where no path of its own leads to it', () => {
    const dimension = {
      name: 'size',
      sum_paths: ['parts[*].n', 'other'],
      type: 'number' as const,
      bands: [9],
    };
    expect(sampleEventOf({ ...NOTHING, dimensions: [dimension] })).toEqual({ parts: [{ n: 1 }] });
  });

  it('keeps names of prototypes fields of the event', () => {
    const extractor = { metric: 'm', path: '$.__proto__.polluted', type: 'number' } as const;
    const event = sampleEventOf({ ...NOTHING, charge_item_extractors: [extractor] });
    expect(JSON.stringify(event)).toBe('{"__proto__":{"polluted":100}}');
    expect({}).not.toHaveProperty('polluted');
  });

  it('is empty for rules that read nothing', () => {
    expect(sampleEventOf(NOTHING)).toEqual({});
  });
});
