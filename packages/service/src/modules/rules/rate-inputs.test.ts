import type { ExtractorConfig } from '@tollgate/contract';
import { describe, expect, it } from 'vitest';
import { failureOf, items, itemsOf, rate } from './testing.js';

describe('subject', () => {
  const paths = { type_path: 't', id_path: 'i' };
  const defaults = { default_type: 'org', default_id: 'o-1' };

  it.each([
    ['both from the event', paths, '{"t": "user", "i": "u-1"}', { type: 'user', id: 'u-1' }],
    [
      'the event before the defaults',
      { ...paths, ...defaults },
      '{"t": "user", "i": "u-1"}',
      { type: 'user', id: 'u-1' },
    ],
    ['the default of what is missing', { ...paths, ...defaults }, '{"i": "u-1"}', { type: 'org', id: 'u-1' }],
    ['the default of null', { ...paths, ...defaults }, '{"t": null, "i": null}', { type: 'org', id: 'o-1' }],
    [
      'the default of empty text',
      { ...paths, ...defaults },
      '{"t": "", "i": ""}',
      { type: 'org', id: 'o-1' },
    ],
    ['defaults without paths', defaults, '{"t": "user"}', { type: 'org', id: 'o-1' }],
    ['no half of a pair', paths, '{"t": "user"}', undefined],
    ['no half of a pair', { id_path: 'i' }, '{"i": "u-1"}', undefined],
    ['none where nothing is configured', {}, '{"t": "user", "i": "u-1"}', undefined],
    [
      'an ID of 255 characters',
      paths,
      `{"t": "user", "i": "${'😀'.repeat(255)}"}`,
      { type: 'user', id: '😀'.repeat(255) },
    ],
  ])('%s: %#', (_, subject, rawJson, expected) => {
    const rated = rate({ subject }, rawJson);
    expect(rated.ok).toBe(true);
    expect(rated.subject).toEqual(expected);
  });

  it('is the pair that was sent, and then the paths are not read', () => {
    const sent = { type: 'team', id: 't-1' };
    const rated = rate({ subject: { ...paths, required: true } }, '{"t": 5, "i": {}}', { subject: sent });
    expect(rated).toMatchObject({ ok: true, subject: sent });
  });

  it.each(['{}', '{"t": "user"}', '{"i": "u-1"}', '{"t": "", "i": "u-1"}'])('is missed in %s', (rawJson) => {
    expect(failureOf(rate({ subject: { ...paths, required: true } }, rawJson))).toEqual([
      'subject_missing',
      'subject',
    ]);
  });

  it.each([
    ['{"t": 5, "i": "u-1"}', 'subject.type_path'],
    ['{"t": "User", "i": "u-1"}', 'subject.type_path'],
    [`{"t": "${'x'.repeat(65)}", "i": "u-1"}`, 'subject.type_path'],
    ['{"t": ["user"]}', 'subject.type_path'],
    ['{"t": "user", "i": 5}', 'subject.id_path'],
    ['{"t": "user", "i": 12345678901234567890}', 'subject.id_path'],
    ['{"t": "user", "i": false}', 'subject.id_path'],
    ['{"t": "user", "i": "a\\u0000b"}', 'subject.id_path'],
    ['{"t": "user", "i": "a\\ud800b"}', 'subject.id_path'],
    [`{"t": "user", "i": "${'x'.repeat(256)}"}`, 'subject.id_path'],
    [`{"t": "user", "i": "${'😀'.repeat(256)}"}`, 'subject.id_path'],
  ])('is invalid in %s', (rawJson, path) => {
    // Also where it is not required, and where there is a default: a value that is present must be valid.
    expect(failureOf(rate({ subject: { ...paths, ...defaults } }, rawJson))).toEqual([
      'subject_invalid',
      path,
    ]);
  });
});

describe('dimensions', () => {
  const dimension = (type: 'string' | 'number' | 'boolean', required: boolean): ExtractorConfig => ({
    dimensions: [{ name: 'd', path: 'd', type, required }],
  });

  it.each([
    ['string', '"gpt"', 'gpt'],
    ['string', '""', ''],
    ['number', '1.50', '1.5'],
    ['number', '-0', '0'],
    ['number', '12345678901234567890.123456789', '12345678901234567890.123456789'],
    ['number', '1e3', '1000'],
    ['boolean', 'false', 'false'],
  ] as const)('of type %s reads %s', (type, value, expected) => {
    const rated = rate(dimension(type, true), `{"d": ${value}}`);
    expect(rated.ok).toBe(true);
    expect(String(rated.dimensions.get('d'))).toBe(expected);
  });

  it.each(['string', 'number', 'boolean'] as const)('of type %s may be absent, or must not be', (type) => {
    for (const rawJson of ['{}', '{"d": null}']) {
      expect(rate(dimension(type, false), rawJson).dimensions.size).toBe(0);
      expect(failureOf(rate(dimension(type, true), rawJson))).toEqual(['dimension_missing', 'dimensions[0]']);
    }
  });

  it.each([
    ['string', '5'],
    ['string', 'true'],
    ['string', '["gpt"]'],
    ['string', '{}'],
    ['string', '12345678901234567890'],
    ['number', '"5"'],
    ['number', 'true'],
    ['boolean', '"true"'],
    ['boolean', '1'],
  ] as const)('of type %s refuses %s', (type, value) => {
    expect(failureOf(rate(dimension(type, false), `{"d": ${value}}`))).toEqual([
      'dimension_type_mismatch',
      'dimensions[0]',
    ]);
  });

  it('of type number refuses what has too many digits', () => {
    expect(failureOf(rate(dimension('number', false), '{"d": 1e999}'))).toEqual([
      'decimal_out_of_range',
      'dimensions[0]',
    ]);
  });

  it('are returned with a failure, as far as they were read', () => {
    const rated = rate(
      {
        subject: { default_type: 'user', default_id: 'u-1' },
        dimensions: [
          { name: 'first', path: 'a', type: 'string' },
          { name: 'second', path: 'b', type: 'string', required: true },
          { name: 'third', path: 'c', type: 'string' },
        ],
      },
      '{"a": "x", "c": "z"}',
    );
    expect(rated).toMatchObject({
      ok: false,
      subject: { type: 'user', id: 'u-1' },
      failure: { code: 'dimension_missing', message: 'The event lacks the required dimension second.' },
    });
    expect([...rated.dimensions.keys()]).toEqual(['first']);
  });
});

describe('quantity', () => {
  it.each([
    ['number', '3', '3'],
    ['number', '0', '0'],
    ['number', '-0', '0'],
    ['number', '0.1', '0.1'],
    ['number', '1e2', '100'],
    ['number', '12345678901234567890', '12345678901234567890'],
    ['number', '0.0000000000000000005', '0'],
    ['number', '0.0000000000000000015', '0.000000000000000002'],
    ['number', '99999999999999999999.999999999999999999', '99999999999999999999.999999999999999999'],
    ['decimal_string', '"0.1"', '0.1'],
    [
      'decimal_string',
      '"12345678901234567890.000000000000000001"',
      '12345678901234567890.000000000000000001',
    ],
    ['decimal_string', '"1.50"', '1.5'],
  ] as const)('of type %s reads %s as %s', (type, value, expected) => {
    expect(itemsOf(rate(items({ type }), `{"n": ${value}}`))).toMatchObject([{ quantity: expected }]);
  });

  it.each(['number', 'decimal_string'] as const)('of type %s that is absent is no charge item', (type) => {
    expect(itemsOf(rate(items({ type }), '{}'))).toEqual([]);
    expect(itemsOf(rate(items({ type }), '{"n": null}'))).toEqual([]);
  });

  it.each([
    ['number', '"3"', 'quantity_type_mismatch'],
    ['number', 'true', 'quantity_type_mismatch'],
    ['number', '[3]', 'quantity_type_mismatch'],
    ['number', '-0.1', 'quantity_negative'],
    ['number', '-12345678901234567890', 'quantity_negative'],
    ['number', '100000000000000000000', 'decimal_out_of_range'],
    ['number', '99999999999999999999.9999999999999999995', 'decimal_out_of_range'],
    ['number', '1e999', 'decimal_out_of_range'],
    ['decimal_string', '3', 'quantity_type_mismatch'],
    ['decimal_string', '""', 'quantity_type_mismatch'],
    ['decimal_string', '" 3"', 'quantity_type_mismatch'],
    ['decimal_string', '"0x10"', 'quantity_type_mismatch'],
    ['decimal_string', '"Infinity"', 'quantity_type_mismatch'],
    ['decimal_string', '"-3"', 'quantity_negative'],
    ['decimal_string', `"${'9'.repeat(2_000)}"`, 'decimal_out_of_range'],
  ] as const)('of type %s refuses %s: %s', (type, value, code) => {
    expect(failureOf(rate(items({ type }), `{"n": ${value}}`))).toEqual([
      code,
      'charge_item_extractors[0].path',
    ]);
  });
});
