import { ACCOUNT, CORRECTION, EVENT, KEY, MONTH_END, MONTH_START, NOW } from './ids.js';
import { CHARGE_ITEMS, RAW_JSON } from './usage.js';

const reason = 'The batch of 7 August was sent twice.';
const filter = { from: MONTH_START, to: MONTH_END, source: 'gateway', metric: 'llm.input_tokens' };
const totals = [
  {
    metric: 'llm.input_tokens',
    unit: 'token',
    currency: 'USD',
    account_id: ACCOUNT,
    quantity: { before: '1200', after: '0', delta: '-1200' },
    amount: { before: '0.0036', after: '0', delta: '-0.0036' },
    cost: { before: '0.003', after: '0', delta: '-0.003' },
  },
];
const [inputItem] = CHARGE_ITEMS;
const summary = {
  id: CORRECTION,
  action: 'void',
  status: 'planned',
  filter,
  raw_event_id: null,
  rules: null,
  backtest_id: null,
  reason,
  events_matched: 1,
  events_changed: 1,
  events_failed: [],
  progress: { events_done: 0, events_total: 1 },
  failure: null,
  created_by: KEY,
  applied_by: null,
  reverted_by: null,
  created_at: NOW,
  planned_at: NOW + 2,
  applied_at: null,
  reverted_at: null,
};

/** Examples about corrections. */
export const CORRECTION_EXAMPLES = {
  CorrectionRequest: { action: 'void', filter, reason, dry_run: true },
  ApplyCorrectionRequest: { counters: 'exact', reason: 'Approved by finance' },
  RevertCorrectionRequest: { reason: 'The contract was not signed' },
  VoidEventRequest: { reason },
  ReplaceEventRequest: { raw_json: RAW_JSON, reason: 'The gateway counted the prompt twice.' },
  CorrectionAccepted: { correction_id: CORRECTION },
  CorrectionStarted: { id: CORRECTION, status: 'planning' },
  Correction: {
    ...summary,
    totals,
    totals_count: 1,
    examples: [
      {
        raw_event_id: EVENT,
        occurred_at: NOW,
        amount_deltas: [{ currency: 'USD', amount: '-0.0036' }],
        before: { charge_items: [inputItem], charge_item_count: 1, failure: null },
        after: { charge_items: [], charge_item_count: 0, failure: null },
      },
    ],
    applied: { events: 0, totals: [] },
  },
  CorrectionPage: { corrections: [summary], total_count: 1, limit: 20, offset: 0 },
};
