import { expect } from 'vitest';
import { fromStored, toText } from '../../kernel/decimal.js';
import { present } from '../../kernel/present.js';
import { stored } from '../../testing/index.js';
import { type AlertData, alertText } from '../../testing/limit-alert-text.js';
import type { CorrectionsOracle } from './corrections-oracle.testing.js';
import type { CorrectionsProject } from './project.testing.js';
import type { Truth } from './truth.testing.js';

const text = (amount: bigint) => toText(fromStored(amount));

/** Expects that a settled project shows what the oracle says. */
export async function expectAsOracle(project: CorrectionsProject, oracle: CorrectionsOracle): Promise<void> {
  await expectEvents(project, oracle);
  await expectTotals(project, oracle);
  await expectWallets(project, oracle);
  expect(await usedWindows(project)).toEqual(oracle.windows.used(project.fixture.nowS));
  expect(await alerts(project)).toEqual(oracle.windows.alerts.sort());
}

async function expectEvents(project: CorrectionsProject, oracle: CorrectionsOracle): Promise<void> {
  const found = new Map<string, unknown>();
  let cursor = '';
  do {
    const page = await project.get(`/usage/events?limit=100${cursor}`);
    for (const {
      raw_event_id,
      revision,
      status,
      subject_id,
      posting,
      account_id,
      charge_items,
    } of page.events) {
      found.set(raw_event_id, {
        revision,
        status,
        subject: status === 'processed' ? (subject_id ?? '') : '',
        account: posting === 'posted' ? account_id : '',
        items: charge_items.map((item: Record<string, string>) => [
          item.metric,
          item.currency,
          item.quantity,
          item.amount,
        ]),
      });
    }
    cursor = page.next_cursor ? `&cursor=${page.next_cursor}` : '';
  } while (cursor !== '');
  const expected = oracle.ratedEvents.map(
    ({ id, revisions }) => [id, shown(present(revisions.at(-1), id), revisions.length)] as const,
  );
  expect(found).toEqual(new Map(expected));
}

function shown({ status, subject, account, items }: Truth, revision: number) {
  return {
    ...{ revision, status, account },
    subject: status === 'processed' ? subject : '',
    items: items.map(({ metric, currency, quantity, amount }) => [
      metric,
      currency || null,
      text(quantity),
      text(amount),
    ]),
  };
}

async function expectTotals(
  { fixture, projectId, ...project }: CorrectionsProject,
  oracle: CorrectionsOracle,
) {
  const sums = new Map<string, { count: number; quantity: bigint; amount: bigint }>();
  const counts = { processed: 0, failed: 0, voided: 0 };
  for (const { atS, revisions } of oracle.ratedEvents) {
    const truth = present(revisions.at(-1), 'a revision');
    counts[truth.status]++;
    for (const { metric, currency, quantity, amount } of truth.items) {
      const key = `${Math.floor(atS / 86_400)} ${metric} ${currency}`;
      const sum = sums.get(key) ?? { count: 0, quantity: 0n, amount: 0n };
      sums.set(key, { count: sum.count + 1, quantity: sum.quantity + quantity, amount: sum.amount + amount });
    }
  }
  const rows = await fixture.rows<Record<string, string>>(
    `select day || ' ' || metric || ' ' || currency as key, item_count::int as count, quantity::text, amount::text
    from usage_totals where project_id = $1 and (item_count <> 0 or quantity <> 0 or amount <> 0)`,
    [projectId],
  );
  const found = rows.map(
    ({ key = '', count, quantity = '', amount = '' }) =>
      [key, { count, quantity: stored(quantity), amount: stored(amount) }] as const,
  );
  expect(new Map(found)).toEqual(sums);
  void project;
  const [ingest] = await fixture.rows(
    `select processed_count::int as processed, failed_count::int as failed, voided_count::int as voided,
      duplicate_count::int as duplicates from ingest_totals where project_id = $1`,
    [projectId],
  );
  if (oracle.events.length > 0) expect(ingest).toEqual({ ...counts, duplicates: oracle.duplicates });
}

async function expectWallets(project: CorrectionsProject, oracle: CorrectionsOracle): Promise<void> {
  await project.fixture.expireCredits();
  for (const [key, wallet] of oracle.wallets) {
    const [account, currency] = key.split(' ');
    wallet.expire(project.fixture.nowS);
    const { wallets } = await project.get(`/accounts/${account}/wallets`);
    const found = wallets.find((one: { currency: string }) => one.currency === currency);
    const { mode, balance, owed } = found ?? {};
    expect({ key, mode, balance, owed }).toEqual({
      ...{ key, mode: wallet.mode, balance: text(wallet.balance), owed: text(wallet.owed) },
    });
    const { credits } = await project.get(`/accounts/${account}/wallets/${currency}/credits?limit=100`);
    const remaining = credits.map((credit: { remaining: string }) => credit.remaining).reverse();
    expect([key, remaining]).toEqual([key, wallet.grants.map((grant) => text(grant.remaining))]);
  }
}

async function usedWindows({ fixture, projectId }: CorrectionsProject): Promise<string[]> {
  const rows = await fixture.rows<Record<string, string>>(
    `select r.limit_key || ' ' || w.window_start || ' ' || w.subject_id as key, w.used::text as used
    from limit_windows w join limit_rules r on r.no = w.rule_no
    where r.project_id = $1 and w.used <> 0
    union all
    select r.limit_key || ' 30d ' || s.subject_id, sum(s.used)::text
    from sliding_steps s join limit_rules r on r.no = s.rule_no
    where r.project_id = $1 and s.counts_until > $2
    group by r.limit_key, s.subject_id having sum(s.used) <> 0`,
    [projectId, fixture.nowS],
  );
  return rows.map(({ key, used = '' }) => `${key} ${stored(used)}`).sort();
}

async function alerts({ fixture, projectId }: CorrectionsProject): Promise<string[]> {
  const rows = await fixture.rows<{ type: string; data: AlertData & { limit_key: string } }>(
    `select type, payload::json -> 'data' as data from webhook_messages
    where project_id = $1 and type like 'usage_limit.%'`,
    [projectId],
  );
  return rows.map(({ type, data }) => alertText(type, data.limit_key, data)).sort();
}
