import { afterEach, expect, it, vi } from 'vitest';
import { rawEventHex } from '../../kernel/id.js';
import { ALL } from '../../kernel/json/json.js';
import { Turns } from '../../platform/turns.js';
import type { RuleVersion } from '../rules/index.js';
import { UsageBlock } from '../usage/index.js';
import type { AcceptedGroup } from './batch-input.js';
import { EventBody } from './event.js';
import { BatchRules } from './rating.js';
import { runStages } from './stages.js';

const OCCURRED_AT = 1_750_000_000;
const EVENTS = 20;

afterEach(() => {
  vi.restoreAllMocks();
});

/** Returns one request of many events. */
function groupOf(count: number): AcceptedGroup {
  const hexIds = Array.from({ length: count }, (_, index) =>
    rawEventHex('ten_1', 'prj_1', OCCURRED_AT, `k${index}`),
  );
  const events = hexIds.map(() => ({
    occurred_at: OCCURRED_AT,
    raw_json: {},
    extractor_rule_set_id: 'ers_1',
  }));
  const ids = Buffer.from(hexIds.join(''), 'hex');
  const body = Buffer.from(JSON.stringify({ events }));
  const project = { tenantId: 'ten_1', projectId: 'prj_1', projectNo: 1, storage: 'shared' } as const;
  const scope = { ...project, kind: 'batch', extractorRuleSetId: null } as const;
  return {
    record: { scope, receivedAtMs: OCCURRED_AT * 1_000, eventCount: count, ids, body },
    tenantId: 'ten_1',
    projectId: 'prj_1',
    projectNo: 1,
    storage: 'shared',
    receivedAtMs: OCCURRED_AT * 1_000,
    attempt: 0,
    corrections: 0,
    correctionId: '',
    ids,
    body: new EventBody(body, 'batch', count, null),
    events: hexIds.map((idHex, index) => ({ projectNo: 1, idHex, index })),
  };
}

it('gives the thread back while it rates one request by slow rules', async () => {
  let nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  let rated = 0;
  const passedAt = new Set<number>();
  const pass = () => {
    passedAt.add(rated);
    if (rated < EVENTS) setImmediate(pass);
  };
  const slow: RuleVersion = {
    version: 1,
    reads: ALL,
    rate: () => {
      rated += 1;
      nowMs += 10;
      return { ok: false, failure: { code: 'pricing_failed', message: '', path: '' }, dimensions: new Map() };
    },
  };
  const rules = new BatchRules({
    refresh: async (refs) => refs.map((ref) => ({ ...ref, rules: { at: () => slow } })),
  });
  setImmediate(pass);
  const result = await runStages({
    batchInput: {
      claimed: EVENTS,
      groups: [groupOf(EVENTS)],
      repeated: [],
      reprocess: [],
      repeatedReprocess: 0,
      oldestReceivedAtMs: 0,
    },
    again: [],
    duplicates: new Set(),
    rules,
    posting: {
      prepare: async () => ({
        of: () => expect.unreachable(),
        mustWait: () => expect.unreachable(),
        routeOf: () => expect.unreachable(),
      }),
    },
    counters: { prepare: async () => [], price: () => expect.unreachable(), undo: () => {} },
    rollup: { prepare: async () => {}, excludedDimensionsOf: () => [] },
    processedAtMs: OCCURRED_AT * 1_000,
    block: new UsageBlock(),
    turns: new Turns(),
    tenantMs: Number.POSITIVE_INFINITY,
    slowTenants: new Set(),
    thread: { nowMs: () => nowMs, waitedMs: () => 0 },
    onDefect: (error) => {
      throw error;
    },
  });
  expect(result.counts.failed).toBe(EVENTS);
  expect(passedAt.size).toBeGreaterThan(EVENTS / 2);
});
