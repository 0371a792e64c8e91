import type {
  CounterDifference,
  IngestDifference,
  LedgerDifference,
  PostingDifference,
  PurchaseDifference,
  QuotaDifference,
  ReservationDifference,
  VerifyDifference,
  VerifyReport,
  VerifyTotal,
} from '@tollgate/contract';

const UNSETTLED = { changing: 'kept changing', waiting: 'its rows still wait for ClickHouse' } as const;

/** The report of `tollgate verify` as a person reads it. */
export function describeReport(report: VerifyReport): string {
  const { differences, unsettled } = report;
  const { ledger, reservations, postings, counters, quotas, purchases, ingest } = report;
  const difference_count = [ledger, reservations, postings, counters, quotas, purchases, ingest].reduce(
    (sum, recount) => sum + recount.difference_count,
    report.difference_count,
  );
  const listed = [
    ...differences.map(describeDifference),
    ...ledger.differences.map(describeLedgerDifference),
    ...reservations.differences.map(describeReservationDifference),
    ...postings.differences.map(describePostingDifference),
    ...counters.differences.map(describeCounterDifference),
    ...quotas.differences.map(describeQuotaDifference),
    ...purchases.differences.map(describePurchaseDifference),
    ...ingest.differences.map(describeIngestDifference),
  ];
  const lines = [...describeTotals(report.totals), ...listed];
  if (difference_count > listed.length)
    lines.push(`… and ${difference_count - listed.length} more differences`);
  for (const { project_id, day, reason } of unsettled)
    lines.push(`${project_id} ${day}: ${UNSETTLED[reason]}; not compared`);
  lines.push(...describeLosses(report.losses));
  const verdicts = {
    equal:
      report.losses.days === 0 ? 'Everything is equal' : 'Everything is equal, except for what was given up',
    different: `${difference_count} differences`,
    unsettled: 'No differences found, but some days could not be compared',
  };
  lines.push(`${verdicts[report.status]}. Compared in ${report.duration_ms} ms:`, ...describeScope(report));
  return lines.join('\n');
}

/** The losses that the operator has given up by `tollgate lost --give-up`. */
function describeLosses({ loss_count, losses }: VerifyReport['losses']): string[] {
  const lines = losses.map(({ project_id, kind, object_key, event_count, first_day, last_day, reason }) => {
    const days =
      first_day === null && last_day === null ? '' : ` of ${first_day ?? '…'} to ${last_day ?? '…'}`;
    return `${project_id}: known loss (${kind}): up to ${event_count} events${days}, ${object_key}: ${reason}`;
  });
  return loss_count > losses.length
    ? [...lines, `… and ${loss_count - losses.length} more known losses`]
    : lines;
}

/** The numbers of compared objects, and of those that could not be compared. */
function describeScope(report: VerifyReport): string[] {
  const { ledger, reservations, postings, counters, quotas, purchases, ingest } = report;
  const { windows, windows_bounded, windows_unjudged, rules, rules_unjudged } = postings;
  return [
    `numbers of ${report.days_compared} project days: ${report.values_compared}`,
    `ledger transactions of ${ledger.wallets} wallets: ${ledger.transactions}`,
    `active leases: ${reservations.leases}`,
    `usage of wallets: ${postings.wallets} (not compared: ${postings.wallets_unjudged})`,
    `limit windows: ${windows} exactly, ${windows_bounded} by bounds (not compared: ${windows_unjudged})`,
    `rules whose windows must exist: ${rules} (not compared: ${rules_unjudged})`,
    `periods of counters: ${counters.counters} (not compared: ${counters.counters_unjudged})`,
    `wallets, windows and counters that changed meanwhile (not compared): ${postings.unsettled + counters.unsettled}`,
    `months of event quotas: ${quotas.months}`,
    `paid orders and their grants: ${purchases.orders}`,
    `ingest status of projects: ${ingest.projects}`,
  ].map((line) => `  ${line}`);
}

function describeDifference(difference: VerifyDifference): string {
  const { project_id, day, store, metric, unit, currency, measure, expected, found } = difference;
  const what = [metric, unit, currency, measure].filter((part) => part !== null && part !== '').join(' ');
  return `${project_id} ${day} ${store}: ${what} should be ${expected}, is ${found}`;
}

function describeLedgerDifference(difference: LedgerDifference): string {
  const { project_id, account_id, currency, transaction_id, measure, expected, found } = difference;
  const where = [project_id, account_id, currency, transaction_id].filter((part) => part !== null).join(' ');
  return `${where}: ${measure} should be ${expected}, is ${found}`;
}

function describeReservationDifference(difference: ReservationDifference): string {
  const { project_id, subject_type, subject_id, limit_rule_no, account_id, currency } = difference;
  const holder =
    limit_rule_no === null
      ? [account_id, currency]
      : [subject_type, subject_id, `limit rule ${limit_rule_no}`];
  return `${[project_id, ...holder].join(' ')}: reserved should be ${difference.expected}, is ${difference.found}`;
}

function describePostingDifference(difference: PostingDifference): string {
  const { project_id, account_id, currency, subject_type, subject_id, limit_rule_no, window_start } =
    difference;
  const of =
    limit_rule_no === null
      ? [account_id, currency]
      : [subject_type, subject_id, `window ${window_start} of limit rule ${limit_rule_no}`];
  return `${[project_id, ...of].join(' ')}: ${difference.measure === 'window_missing' ? 'is missing' : `usage is ${difference.expected}`}, charge items add up to ${difference.found}`;
}

function describeCounterDifference(difference: CounterDifference): string {
  const { project_id, rule_set_id, counter, subject_type, subject_id, account_id, by } = difference;
  const owner = [subject_type, subject_id, account_id].filter((part) => part !== null);
  const values = Object.entries(by).map(([name, value]) => `${name}=${value ?? ''}`);
  const period = new Date(difference.period_start * 1_000).toISOString();
  const where = [project_id, rule_set_id, `counter ${counter}`, ...owner, ...values, period].join(' ');
  return `${where}: ${difference.measure} should be ${difference.expected}, is ${difference.found}`;
}

function describeQuotaDifference({ tenant_id, month, expected, found }: QuotaDifference): string {
  return `${tenant_id} ${month}: accepted events should be ${expected}, are ${found}`;
}

function describePurchaseDifference(difference: PurchaseDifference): string {
  const { tenant_id, order_id, grant_id, expected, found } = difference;
  const of = [tenant_id, order_id, grant_id].filter((part) => part !== null).join(' ');
  return `${of}: paid was ${expected}, granted ${found}`;
}

function describeIngestDifference({ project_id, measure, expected, found }: IngestDifference): string {
  return `${project_id} ingest status: ${measure} should be ${expected}, is ${found}`;
}

/** A line for the events of each project, and one for each of its metrics. */
function describeTotals(totals: readonly VerifyTotal[]): string[] {
  const projects = new Map<string, Map<string, string[]>>();
  for (const { project_id, metric, unit, currency, measure, value } of totals) {
    const lines = projects.get(project_id) ?? new Map<string, string[]>();
    const key = JSON.stringify([metric, unit, currency]);
    const parts = lines.get(key) ?? [metric === null ? project_id : `  ${metric}`];
    const kind = { quantity: unit, amount: currency }[measure] || measure.replace('_count', '');
    projects.set(project_id, lines.set(key, [...parts, `${value} ${kind}`]));
  }
  const lines = [...projects.values()].flatMap((ofProject) => [...ofProject.values()]);
  return lines.map(([name, ...parts]) => `${name}: ${parts.join(', ')}`);
}
