import { promisify } from 'node:util';
import { deflate, inflate } from 'node:zlib';
import { type ItemCostRow, jsonOf, type UsageEventRow, type UsageItemRow } from '../usage/index.js';
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

const deflated = promisify(deflate);
const inflated = promisify(inflate);
/** Quick rather than small: a plan is kept for days, and read once or twice. */
const LEVEL = 1;

/** A charge item without the names of its fields, which halves the time. Decimals are texts. */
type StoredItem = readonly [
  quantity: string,
  unitPrice: string | null,
  amount: string,
  discount: string,
  extractorName: string,
  metric: string,
  unit: string,
  currency: string,
  source: UsageItemRow['source'],
  pricingSource: UsageItemRow['pricingSource'],
  ruleSetId: string,
  ruleSetVersion: number,
  ruleName: string,
  cumulative: string,
  /** Absent in plans of the release that had no costs. */
  cost?: StoredCost | null,
];

type StoredCost = readonly [
  amount: string,
  currency: string,
  ruleSetId: string,
  ruleSetVersion: number,
  ruleName: string,
];

interface StoredOutcome extends Omit<Outcome, 'items' | 'dimensions'> {
  readonly dimensions: readonly (readonly [string, string])[];
  readonly items: readonly StoredItem[];
}

/** Returns an outcome as text, of which `encodeOutcomes` makes what is stored. */
export function outcomeText(outcome: Outcome): string {
  const stored: StoredOutcome = {
    ...outcome,
    dimensions: [...outcome.dimensions],
    items: outcome.items.map(storedItem),
  };
  return JSON.stringify(stored);
}

/** Returns outcomes as they are stored. */
export function encodeOutcomes(texts: readonly string[]): Promise<Buffer> {
  return deflated(`[${texts.join(',')}]`, { level: LEVEL });
}

/** Returns stored outcomes. @throws Error for bytes that `encodeOutcomes` did not write */
export async function decodeOutcomes(bytes: Buffer): Promise<Outcome[]> {
  const stored = JSON.parse((await inflated(bytes)).toString('utf8')) as StoredOutcome[];
  return stored.map((outcome) => ({
    ...outcome,
    dimensions: new Map(outcome.dimensions),
    items: outcome.items.map(itemOf),
  }));
}

function storedItem(item: UsageItemRow): StoredItem {
  return [
    String(item.quantity),
    item.unitPrice === null ? null : String(item.unitPrice),
    String(item.amount),
    String(item.discount),
    item.extractorName,
    item.metric,
    item.unit,
    item.currency,
    item.source,
    item.pricingSource,
    item.ruleSetId,
    item.ruleSetVersion,
    item.ruleName,
    item.cumulative,
    item.cost && storedCost(item.cost),
  ];
}

function storedCost({ amount, currency, ruleSetId, ruleSetVersion, ruleName }: ItemCostRow): StoredCost {
  return [String(amount), currency, ruleSetId, ruleSetVersion, ruleName];
}

function costOf([amount, currency, ruleSetId, ruleSetVersion, ruleName]: StoredCost): ItemCostRow {
  return { amount: BigInt(amount), currency, ruleSetId, ruleSetVersion, ruleName };
}

function itemOf(stored: StoredItem): UsageItemRow {
  const [quantity, unitPrice, amount, discount, extractorName, metric, unit, currency] = stored;
  const [, , , , , , , , source, pricingSource, ruleSetId, ruleSetVersion, ruleName, cumulative, cost] =
    stored;
  return {
    quantity: BigInt(quantity),
    unitPrice: unitPrice === null ? null : BigInt(unitPrice),
    amount: BigInt(amount),
    discount: BigInt(discount),
    extractorName,
    metric,
    unit,
    currency,
    source,
    pricingSource,
    ruleSetId,
    ruleSetVersion,
    ruleName,
    cumulative,
    cost: cost ? costOf(cost) : null,
  };
}

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
