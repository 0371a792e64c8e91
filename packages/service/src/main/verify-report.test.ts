import type { VerifyReport, VerifyTotal } from '@tollgate/contract';
import { expect, it } from 'vitest';
import { describeReport } from './verify-report.js';

const EQUAL: VerifyReport = {
  status: 'equal',
  days_compared: 2,
  values_compared: 6,
  difference_count: 0,
  differences: [],
  unsettled: [],
  totals: [],
  ledger: { wallets: 3, transactions: 8, difference_count: 0, differences: [] },
  reservations: { leases: 4, difference_count: 0, differences: [] },
  counters: { counters: 5, counters_unjudged: 1, unsettled: 2, difference_count: 0, differences: [] },
  postings: {
    ...{
      wallets: 2,
      wallets_unjudged: 0,
      windows: 7,
      windows_bounded: 3,
      windows_unjudged: 1,
      rules: 5,
      rules_unjudged: 0,
      unsettled: 1,
    },
    difference_count: 0,
    differences: [],
  },
  quotas: { months: 6, difference_count: 0, differences: [] },
  purchases: { orders: 9, difference_count: 0, differences: [] },
  ingest: { projects: 2, difference_count: 0, differences: [] },
  losses: { loss_count: 0, days: 0, losses: [] },
  duration_ms: 5,
};

const events = (project: string, value: string): VerifyTotal => ({
  tenant_id: 'ten_1',
  project_id: project,
  metric: null,
  unit: null,
  currency: null,
  measure: 'processed_count',
  value,
});

const item = (project: string, measure: 'quantity' | 'amount', value: string): VerifyTotal => ({
  ...events(project, value),
  metric: 'llm.tokens',
  unit: 'token',
  currency: 'USD',
  measure,
});

const SCOPE = [
  '  numbers of 2 project days: 6',
  '  ledger transactions of 3 wallets: 8',
  '  active leases: 4',
  '  usage of wallets: 2 (not compared: 0)',
  '  limit windows: 7 exactly, 3 by bounds (not compared: 1)',
  '  rules whose windows must exist: 5 (not compared: 0)',
  '  periods of counters: 5 (not compared: 1)',
  '  wallets, windows and counters that changed meanwhile (not compared): 3',
  '  months of event quotas: 6',
  '  paid orders and their grants: 9',
  '  ingest status of projects: 2',
];

it('puts the metrics of a project under it, in whatever order the totals were met', () => {
  const totals = [
    events('prj_1', '3'),
    events('prj_2', '4'),
    item('prj_1', 'quantity', '30'),
    item('prj_2', 'quantity', '40'),
    item('prj_1', 'amount', '0.3'),
  ];
  expect(describeReport({ ...EQUAL, totals }).split('\n')).toEqual([
    'prj_1: 3 processed',
    '  llm.tokens: 30 token, 0.3 USD',
    'prj_2: 4 processed',
    '  llm.tokens: 40 token',
    'Everything is equal. Compared in 5 ms:',
    ...SCOPE,
  ]);
});

it('says why days were not compared', () => {
  const day = { project_id: 'prj_1', day: '2026-11-28' };
  const unsettled = [
    { ...day, reason: 'changing' as const },
    { ...day, reason: 'waiting' as const },
  ];
  expect(
    describeReport({ ...EQUAL, status: 'unsettled', unsettled })
      .split('\n')
      .slice(0, 3),
  ).toEqual([
    'prj_1 2026-11-28: kept changing; not compared',
    'prj_1 2026-11-28: its rows still wait for ClickHouse; not compared',
    'No differences found, but some days could not be compared. Compared in 5 ms:',
  ]);
});

it('names every difference of the ledger', () => {
  const at = { tenant_id: 'ten_1', project_id: 'prj_1', account_id: 'acct_1', currency: 'USD' };
  const report: VerifyReport = {
    ...EQUAL,
    status: 'different',
    ledger: {
      wallets: 3,
      transactions: 8,
      difference_count: 3,
      differences: [
        { ...at, transaction_id: 'led_1', measure: 'transaction_sum', expected: '0', found: '-1' },
        { ...at, transaction_id: null, measure: 'balance', expected: '3', found: '4' },
      ],
    },
  };
  expect(describeReport(report).split('\n')).toEqual([
    'prj_1 acct_1 USD led_1: transaction_sum should be 0, is -1',
    'prj_1 acct_1 USD: balance should be 3, is 4',
    '… and 1 more differences',
    '3 differences. Compared in 5 ms:',
    ...SCOPE,
  ]);
});

it('names every difference of reservations', () => {
  const place = { tenant_id: 'ten_1', project_id: 'prj_1', expected: '3', found: '4' };
  const ofLimit = {
    subject_type: 'user',
    subject_id: 'u1',
    limit_rule_no: 7,
    account_id: null,
    currency: null,
  };
  const ofWallet = {
    subject_type: null,
    subject_id: null,
    limit_rule_no: null,
    account_id: 'acct_1',
    currency: 'USD',
  };
  const differences = [
    { ...place, ...ofLimit },
    { ...place, ...ofWallet },
  ];
  const reservations = { leases: 4, difference_count: 2, differences };
  const lines = describeReport({ ...EQUAL, status: 'different', reservations }).split('\n');
  expect(lines.slice(0, 2)).toEqual([
    'prj_1 user u1 limit rule 7: reserved should be 3, is 4',
    'prj_1 acct_1 USD: reserved should be 3, is 4',
  ]);
  expect(lines[2]).toContain('2 differences');
});

it('names every difference of event quotas', () => {
  const differences = [{ tenant_id: 'ten_1', month: '2026-06', expected: '10', found: '7' }];
  const quotas = { months: 6, difference_count: 1, differences };
  const lines = describeReport({ ...EQUAL, status: 'different', quotas }).split('\n');
  expect(lines[0]).toBe('ten_1 2026-06: accepted events should be 10, are 7');
  expect(lines[1]).toContain('1 differences');
});

it('names every difference of purchases', () => {
  const lost = { order_id: 'ord_1', grant_id: null, expected: 'growth 2', found: 'nothing' };
  const unpaid = { order_id: null, grant_id: 'grt_1', expected: 'nothing', found: 'scale 1' };
  const differences = [lost, unpaid].map((of) => ({ tenant_id: 'ten_1', ...of }));
  const purchases = { orders: 9, difference_count: 2, differences };
  const lines = describeReport({ ...EQUAL, status: 'different', purchases }).split('\n');
  expect(lines.slice(0, 2)).toEqual([
    'ten_1 ord_1: paid was growth 2, granted nothing',
    'ten_1 grt_1: paid was nothing, granted scale 1',
  ]);
  expect(lines[2]).toContain('2 differences');
});

it('names every difference of the ingest status', () => {
  const of = {
    tenant_id: 'ten_1',
    project_id: 'prj_1',
    measure: 'failed_count',
    expected: '2',
    found: '3',
  } as const;
  const ingest = { projects: 2, difference_count: 1, differences: [of] };
  const lines = describeReport({ ...EQUAL, status: 'different', ingest }).split('\n');
  expect(lines[0]).toBe('prj_1 ingest status: failed_count should be 2, is 3');
  expect(lines[1]).toContain('1 differences');
});

it('names every difference of what was posted', () => {
  const of = { tenant_id: 'ten_1', project_id: 'prj_1', currency: 'USD', expected: '5', found: '4' };
  const noWindow = { subject_type: null, subject_id: null, limit_rule_no: null, window_start: null };
  const postings: VerifyReport['postings'] = {
    ...EQUAL.postings,
    difference_count: 2,
    differences: [
      { ...of, ...noWindow, measure: 'usage_debits', account_id: 'acct_1' },
      {
        ...of,
        ...{ measure: 'window_usage', account_id: null, subject_type: 'user', subject_id: 'u1' },
        ...{ limit_rule_no: 3, window_start: 86_400 },
      },
    ],
  };
  const lines = describeReport({ ...EQUAL, status: 'different', postings }).split('\n');
  expect(lines.slice(0, 2)).toEqual([
    'prj_1 acct_1 USD: usage is 5, charge items add up to 4',
    'prj_1 user u1 window 86400 of limit rule 3: usage is 5, charge items add up to 4',
  ]);
  expect(lines[2]).toContain('2 differences');
});

it('separates a missing window from one with another count', () => {
  const window = {
    ...{ tenant_id: 'ten_1', project_id: 'prj_1', account_id: null, currency: 'USD' },
    ...{ subject_type: 'user', subject_id: 'u1', limit_rule_no: 7, window_start: 60 },
  };
  const postings: VerifyReport['postings'] = {
    ...EQUAL.postings,
    difference_count: 2,
    differences: [
      { ...window, measure: 'window_missing', expected: '0', found: '3' },
      { ...window, measure: 'window_usage', expected: '5', found: '1 to 2' },
    ],
  };
  expect(describeReport({ ...EQUAL, status: 'different', postings }).split('\n')).toMatchObject([
    'prj_1 user u1 window 60 of limit rule 7: is missing, charge items add up to 3',
    'prj_1 user u1 window 60 of limit rule 7: usage is 5, charge items add up to 1 to 2',
    expect.stringMatching('2 differences'),
    ...SCOPE,
  ]);
});

it('names every difference of a counter', () => {
  const difference = {
    tenant_id: 'ten_1',
    project_id: 'prj_1',
    rule_set_id: 'ers_1',
    counter: 'tokens',
    subject_type: 'customer',
    subject_id: 'c-1',
    account_id: null,
    by: { model: 'large', tier: null },
    period_start: 1_790_812_800,
    measure: 'amount',
    expected: '10',
    found: '10.5',
  } as const;
  const counters = { ...EQUAL.counters, difference_count: 2, differences: [difference] };
  const lines = describeReport({ ...EQUAL, status: 'different', counters }).split('\n');
  expect(lines.slice(0, 3)).toEqual([
    'prj_1 ers_1 counter tokens customer c-1 model=large tier= 2026-10-01T00:00:00.000Z: amount should be 10, is 10.5',
    '… and 1 more differences',
    '2 differences. Compared in 5 ms:',
  ]);
});

it('names losses that were given up', () => {
  const loss = {
    ...{
      tenant_id: 'ten_1',
      project_id: 'prj_a',
      event_count: 50,
      given_up_at: 1_764_000_000,
      reason: 'Disk lost.',
    },
  };
  const report = describeReport({
    ...EQUAL,
    losses: {
      ...{ loss_count: 3, days: 1 },
      losses: [
        { ...loss, kind: 'rated', object_key: 'rows/1', first_day: '2025-06-01', last_day: '2025-06-02' },
        { ...loss, kind: 'received', object_key: 'segments/1', first_day: null, last_day: null },
      ],
    },
  });
  expect(report.split('\n').slice(0, 4)).toEqual([
    'prj_a: known loss (rated): up to 50 events of 2025-06-01 to 2025-06-02, rows/1: Disk lost.',
    'prj_a: known loss (received): up to 50 events, segments/1: Disk lost.',
    '… and 1 more known losses',
    'Everything is equal, except for what was given up. Compared in 5 ms:',
  ]);
});
