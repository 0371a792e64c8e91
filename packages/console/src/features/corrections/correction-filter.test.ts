import { UNIX_SECONDS_MAX } from '@tollgate/contract';
import { expect, it } from 'vitest';
import { correctionFilterOf, describeFilter, listAddress } from './correction-filter.js';

const FULL = {
  from: 1_700_000_000,
  to: 1_700_086_400,
  status: 'voided',
  subject_type: 'user',
  subject_id: 'ann',
  metric: ['tokens'],
  source: 'gateway',
  extractor_rule_set_id: 'ers_1',
  pricing_source: 'unpriced',
  filters: '{"model":{"in":["large","small"]},"region":{"exists":false}}',
} as const;

it('takes over every filter that a correction has', () => {
  const { metric: _metric, filters: _filters, ...rest } = FULL;
  expect(correctionFilterOf({ ...FULL, metric: ['tokens'] })).toEqual({
    isUsable: true,
    filter: {
      ...rest,
      metric: 'tokens',
      dimensions: { model: { in: ['large', 'small'] }, region: { exists: false } },
    },
  });
});

it('takes an open end as the end of all times', () => {
  expect(correctionFilterOf({})).toEqual({ isUsable: true, filter: { from: 0, to: UNIX_SECONDS_MAX } });
  expect(correctionFilterOf({ from: 5 })).toMatchObject({ filter: { from: 5, to: UNIX_SECONDS_MAX } });
});

it.each([
  [{ currency: 'USD' }, 'Currency'],
  [{ failure_code: 'x' }, 'Failure code'],
  [{ note: 'any' as const }, 'Notes'],
  [{ external_event_id: 'x' }, 'External ID'],
  [{ ledger_transaction_id: 'led_1' }, 'Ledger transaction'],
  [{ metric: ['a', 'b'] }, 'Several metrics'],
])('drops no filter silently: %j', (query, label) => {
  expect(correctionFilterOf(query)).toEqual({ isUsable: false, labels: [label] });
});

it('describes which events are corrected', () => {
  const { filter } = { filter: { from: 0, to: UNIX_SECONDS_MAX } };
  expect(describeFilter(filter)).toEqual([
    ['Time (UTC)', 'all times'],
    ['Status', 'processed'],
  ]);
  const reading = correctionFilterOf({ ...FULL, metric: ['tokens'] });
  expect(reading.isUsable && describeFilter(reading.filter)).toEqual([
    ['Time (UTC)', '14 Nov 2023, 22:13:20 – 15 Nov 2023, 22:13:20'],
    ['Status', 'voided'],
    ['Subject type', 'user'],
    ['Subject ID', 'ann'],
    ['Metric', 'tokens'],
    ['Source', 'gateway'],
    ['Rule set', 'ers_1'],
    ['Price', 'unpriced'],
    ['model', 'is large or small'],
    ['region', 'is absent'],
  ]);
});

it('leads to the list of the same events', () => {
  const reading = correctionFilterOf({ ...FULL, metric: ['tokens'] });
  const address = new URLSearchParams(reading.isUsable ? listAddress(reading.filter) : '');
  expect(Object.fromEntries(address)).toEqual({
    ...FULL,
    from: '1700000000',
    to: '1700086400',
    metric: 'tokens',
  });
  expect(listAddress({ from: 0, to: UNIX_SECONDS_MAX })).toBe('');
});
