import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '../packages/service/src/testing/wait-for.js';
import { call } from './support/http.js';
import { type Invocation, loadInvocations } from './support/llm-trace.js';
import { createSampleProject, type SampleProject } from './support/sample-project.js';
import { type RunningService, startService } from './support/service.js';

const BATCH_EVENTS = 250;
/** Every so many batches one is sent again, and every so many events one is repeated within its batch. */
const RESEND_EVERY = 4;
const REPEAT_EVERY = 9;
/** Prices of the sample rules in units of 10^-7 USD. */
const INPUT_PRICE_E7 = 25n;
const OUTPUT_PRICE_E7 = 100n;

interface Totals {
  inputTokens: bigint;
  outputTokens: bigint;
}

const { source, invocations } = loadInvocations();

/** Plain decimal text of an integer number of 10^-7 USD. */
function usd(amountE7: bigint): string {
  const digits = amountE7.toString().padStart(8, '0');
  return `${digits.slice(0, -7)}.${digits.slice(-7)}`.replace(/\.?0+$/, '');
}

function expectedTotals(): Totals {
  const totals = { inputTokens: 0n, outputTokens: 0n };
  for (const { contextTokens, generatedTokens } of invocations) {
    totals.inputTokens += BigInt(contextTokens);
    totals.outputTokens += BigInt(generatedTokens);
  }
  return totals;
}

describe(`LLM invocations (${source}), ${invocations.length} of them, some sent twice`, () => {
  let service: RunningService;
  let project: SampleProject;
  let accepted = 0;
  const start = Math.floor(Date.now() / 1000) - 2 * 86_400;
  const expected = expectedTotals();

  beforeAll(async () => {
    service = await startService({ startsEmpty: true });
    project = await createSampleProject(service);
    const events = invocations.map((invocation, index) => toEvent(invocation, index));
    for (let from = 0, batch = 0; from < events.length; from += BATCH_EVENTS, batch += 1) {
      const items = events.slice(from, from + BATCH_EVENTS).flatMap(withRepeats);
      await send(items);
      if (batch % RESEND_EVERY === 0) await send(items);
    }
    await waitFor(async () => {
      const status = await get('usage/ingest-status');
      return status.processed + status.failed + status.duplicates === accepted && status.lag_seconds === 0;
    });
  });
  afterAll(() => service?.stop());

  function toEvent(invocation: Invocation, index: number) {
    return {
      extractor_rule_set_id: project.ruleSetId,
      idempotency_key: `invocation-${index}`,
      occurred_at: start + invocation.offsetSeconds,
      raw_json: {
        customer: `customer-${index % 50}`,
        model: `model-${index % 3}`,
        usage: { input_tokens: invocation.contextTokens, output_tokens: invocation.generatedTokens },
      },
    };
  }

  function withRepeats<T>(event: T, index: number): T[] {
    return index % REPEAT_EVERY === 0 ? [event, event] : [event];
  }

  async function send(events: readonly unknown[]): Promise<void> {
    const path = `/v1/projects/${project.projectId}/events/batch-ingest`;
    const answer = await call(service, 'POST', path, { key: project.key, body: { source: 'trace', events } });
    expect(answer.status, answer.text).toBe(202);
    expect(answer.body.count).toBe(events.length);
    accepted += events.length;
  }

  async function get(path: string) {
    const answer = await call(service, 'GET', `/v1/projects/${project.projectId}/${path}`, {
      key: project.key,
    });
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  }

  it('counts every accepted attempt, and every repeated one as a duplicate', async () => {
    const status = await get('usage/ingest-status');
    expect(status.accepted).toBe(accepted);
    expect(status.processed).toBe(invocations.length);
    expect(status.failed).toBe(0);
    expect(status.duplicates).toBe(accepted - invocations.length);
  });

  it('adds up to the independent sum in the events list', async () => {
    const seen = new Set<string>();
    const totals = { 'llm.input_tokens': 0n, 'llm.output_tokens': 0n } as Record<string, bigint>;
    let amountE7 = 0n;
    let cursor: string | null = null;
    do {
      const page: { events: UsageEvent[]; next_cursor: string | null } = await get(
        `usage/events?limit=100${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
      );
      for (const event of page.events) {
        seen.add(event.raw_event_id);
        for (const item of event.charge_items) {
          totals[item.metric] = (totals[item.metric] ?? 0n) + BigInt(item.quantity);
          amountE7 += toE7(item.amount);
        }
      }
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(seen.size).toBe(invocations.length);
    expect(totals['llm.input_tokens']).toBe(expected.inputTokens);
    expect(totals['llm.output_tokens']).toBe(expected.outputTokens);
    expect(amountE7).toBe(expected.inputTokens * INPUT_PRICE_E7 + expected.outputTokens * OUTPUT_PRICE_E7);
  }, 300_000);

  it.each(['none', '1m', '1h', '1d'])(
    'adds up to the independent sum in an analysis query by %s',
    async (bucket) => {
      const answer = await call(service, 'POST', `/v1/projects/${project.projectId}/analysis/query`, {
        key: project.key,
        body: {
          metrics: ['llm.input_tokens', 'llm.output_tokens'],
          time_range: { from: start - 3_600, to: start + 86_400 },
          bucket_size: bucket,
          group_by: bucket === '1h' ? ['bucket', 'model', 'subject_id'] : ['bucket', 'model'],
        },
      });
      expect(answer.status, answer.text).toBe(200);
      const total = (metric: string, measure: 'quantity' | 'amount') =>
        answer.body.rows
          .filter((row: { metric: string }) => row.metric === metric)
          .reduce((sum: bigint, row: Record<string, string>) => sum + toE7(row[measure] ?? ''), 0n);
      expect(total('llm.input_tokens', 'quantity')).toBe(expected.inputTokens * 10_000_000n);
      expect(total('llm.output_tokens', 'quantity')).toBe(expected.outputTokens * 10_000_000n);
      expect(usd(total('llm.input_tokens', 'amount'))).toBe(usd(expected.inputTokens * INPUT_PRICE_E7));
      expect(usd(total('llm.output_tokens', 'amount'))).toBe(usd(expected.outputTokens * OUTPUT_PRICE_E7));
    },
  );

  it('is found consistent by tollgate verify', async () => {
    const { exitCode, output } = await service.runCommand(['verify']);
    expect(output).toContain(`${invocations.length} processed`);
    expect(output).toContain(
      `${expected.inputTokens} token, ${usd(expected.inputTokens * INPUT_PRICE_E7)} USD`,
    );
    expect(output).toContain(
      `${expected.outputTokens} token, ${usd(expected.outputTokens * OUTPUT_PRICE_E7)} USD`,
    );
    expect(exitCode, output).toBe(0);
  });
});

interface UsageEvent {
  raw_event_id: string;
  charge_items: { metric: string; quantity: string; amount: string }[];
}

/** Plain decimal text as an integer of 10^-7. */
function toE7(text: string): bigint {
  const [whole = '0', fraction = ''] = text.split('.');
  if (fraction.length > 7) throw new Error(`${text} has more than 7 fraction digits`);
  return BigInt(whole) * 10_000_000n + BigInt(fraction.padEnd(7, '0'));
}
