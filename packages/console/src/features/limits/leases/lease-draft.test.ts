import { describe, expect, it } from 'vitest';
import {
  leaseFieldPaths,
  leaseRequest,
  newHold,
  newLease,
  nextHold,
  repeatedDimension,
} from './lease-draft.js';

const SUBJECT = { type: 'customer', id: 'c-1' };

describe('the request of a lease', () => {
  it('has one amount unless more is asked for', () => {
    const draft = newLease(SUBJECT);
    const [hold = newHold()] = draft.holds;
    expect(leaseRequest({ ...draft, holds: [{ ...hold, value: '1,000.5', unit: ' eur ' }] })).toEqual({
      subject_type: 'customer',
      subject_id: 'c-1',
      holds: [{ amount: '1000.5', currency: 'EUR' }],
      ttl_seconds: 300,
    });
  });

  it('has amounts and quantities, dimensions, the metric and the parent', () => {
    const request = leaseRequest({
      ...newLease(SUBJECT, ' bl_1 '),
      holds: [
        { id: 'a', kind: 'amount', value: '2', unit: 'USD' },
        { id: 'b', kind: 'quantity', value: '50 000', unit: ' llm.output_tokens ' },
      ],
      metric: ' llm.output_tokens ',
      dimensions: [
        { id: 'a', name: ' model ', value: 'large' },
        { id: 'b', name: '', value: 'left out' },
      ],
      ttlSeconds: '3600',
    });
    expect(request).toMatchObject({
      holds: [
        { amount: '2', currency: 'USD' },
        { quantity: '50000', metric: 'llm.output_tokens' },
      ],
      ...{ metric: 'llm.output_tokens', dimensions: { model: 'large' } },
      ...{ parent_lease_id: 'bl_1', ttl_seconds: 3600 },
    });
  });

  it('may hold nothing', () => {
    expect(leaseRequest({ ...newLease(SUBJECT), holds: [] }).holds).toEqual([]);
  });
});

it('adds an amount first, and quantities after it', () => {
  expect([nextHold([]).kind, nextHold([newHold()]).kind]).toEqual(['amount', 'quantity']);
});

it('knows the fields that errors name', () => {
  const dimensions = [{ id: 'a', name: ' model ', value: '' }];
  const paths = leaseFieldPaths({ ...newLease(SUBJECT), dimensions });
  expect(paths).toEqual(expect.arrayContaining(['holds[0].currency', 'dimensions.model', 'parent_lease_id']));
});

it('finds a dimension that is named twice', () => {
  const named = (...names: string[]) => names.map((name) => ({ id: name, name, value: '' }));
  expect(repeatedDimension(named('a', 'b', '', ''))).toBeUndefined();
  expect(repeatedDimension(named('a', 'b', ' a'))).toBe(2);
});
