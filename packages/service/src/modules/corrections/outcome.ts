import { jsonOf, type UsageEventRow, type UsageItemRow } from '../usage/index.js';
import type { Replacement } from './correction.js';

/**
 * The fields of an event's next revision that a plan decides. All other fields stay as they are.
 */
export type Outcome = Pick<
  UsageEventRow,
  | 'status'
  | 'posting'
  | 'accountId'
  | 'subjectType'
  | 'subjectId'
  | 'subjectIsSent'
  | 'extractorRuleSetId'
  | 'extractorVersion'
  | 'dimensions'
  | 'notes'
  | 'items'
> & { readonly sent?: Pick<Replacement, 'rawJson' | 'metadata' | 'xBilling'> };

/** Returns the row of an event with the outcome of its plan. Its charge items name no ledger transactions yet. */
export function withOutcome(former: UsageEventRow, outcome: Outcome): UsageEventRow {
  // Several spreads in one literal take several times as long.
  const row: UsageEventRow = {
    ...former,
    status: outcome.status,
    posting: outcome.posting,
    accountId: outcome.accountId,
    subjectType: outcome.subjectType,
    subjectId: outcome.subjectId,
    subjectIsSent: outcome.subjectIsSent,
    extractorRuleSetId: outcome.extractorRuleSetId,
    extractorVersion: outcome.extractorVersion,
    dimensions: outcome.dimensions,
    notes: outcome.notes,
    items: outcome.items,
    failureCode: '',
    failureMessage: '',
    failurePath: '',
    itemTransactionIds: [],
  };
  return outcome.sent === undefined ? row : { ...row, ...outcome.sent };
}

/** The outcome of an event that is taken back: its identity and what was sent stay. */
export function voided(former: UsageEventRow): Outcome {
  const { subjectType, subjectId, subjectIsSent, extractorRuleSetId, extractorVersion, dimensions } = former;
  return {
    status: 'voided',
    posting: 'none',
    accountId: '',
    subjectType,
    subjectId,
    subjectIsSent,
    extractorRuleSetId,
    extractorVersion,
    dimensions,
    notes: '',
    items: [],
  };
}

/** Whether the outcome differs from what is in force in anything that is charged, counted or shown. */
export function isChanged(former: UsageEventRow, next: Outcome): boolean {
  return (
    isSentAnew(former, next) ||
    former.status !== next.status ||
    accountOf(former) !== accountOf(next) ||
    former.subjectType !== next.subjectType ||
    former.subjectId !== next.subjectId ||
    !isSameMap(former.dimensions, next.dimensions) ||
    !areSameCharges(former.items, next.items)
  );
}

/**
 * The order of items does not matter. Nearly always they come in the same order, or one of them has changed: both are
 * found without texts.
 */
function areSameCharges(a: readonly UsageItemRow[], b: readonly UsageItemRow[]): boolean {
  if (a.length !== b.length) return false;
  if (a.every((item, index) => isSameCharge(item, b[index]))) return true;
  const [first] = a;
  if (first !== undefined && !b.some((item) => isSameCharge(first, item))) return false;
  return chargesOf(a) === chargesOf(b);
}

/** The rules that give an item its price and cost do not matter, only whether they did, and the price and the cost. */
function isSameCharge(a: UsageItemRow, b: UsageItemRow | undefined): boolean {
  return (
    b !== undefined &&
    a.metric === b.metric &&
    a.unit === b.unit &&
    a.currency === b.currency &&
    a.quantity === b.quantity &&
    a.unitPrice === b.unitPrice &&
    a.amount === b.amount &&
    a.discount === b.discount &&
    (a.pricingSource === 'unpriced') === (b.pricingSource === 'unpriced') &&
    a.cost?.currency === b.cost?.currency &&
    a.cost?.amount === b.cost?.amount
  );
}

function isSentAnew(former: UsageEventRow, { sent, subjectIsSent }: Outcome): boolean {
  return (
    sent !== undefined &&
    (sent.rawJson !== jsonOf(former) ||
      sent.metadata !== former.metadata ||
      sent.xBilling !== former.xBilling ||
      subjectIsSent !== former.subjectIsSent)
  );
}

/** The account that pays; a route that came after the event may name one where none was debited. */
function accountOf({ posting, accountId }: Pick<UsageEventRow, 'posting' | 'accountId'>): string {
  return posting === 'posted' ? accountId : '';
}

function isSameMap(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  return a.size === b.size && [...a].every(([name, value]) => b.get(name) === value);
}

/** Returns the same fields of all items as one text. */
function chargesOf(items: readonly UsageItemRow[]): string {
  const texts = items.map((item) =>
    JSON.stringify([
      item.metric,
      item.unit,
      item.currency,
      String(item.quantity),
      String(item.unitPrice),
      String(item.amount),
      String(item.discount),
      item.pricingSource === 'unpriced',
      item.cost && [item.cost.currency, String(item.cost.amount)],
    ]),
  );
  return texts.sort().join('\n');
}
