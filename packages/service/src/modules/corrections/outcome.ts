import { promisify } from 'node:util';
import { deflate, inflate } from 'node:zlib';
import type { UsageEventRow, UsageItemRow } from '../usage/index.js';

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
> & { readonly sent?: Pick<UsageEventRow, 'rawJson' | 'metadata' | 'xBilling'> };

const deflated = promisify(deflate);
const inflated = promisify(inflate);
/** Quick rather than small: a plan is kept for days, and read once or twice. */
const LEVEL = 1;

/** Returns outcomes as they are stored. */
export function encodeOutcomes(outcomes: readonly Outcome[]): Promise<Buffer> {
  const texts = outcomes.map(({ items, dimensions, ...rest }) => ({
    ...rest,
    dimensions: [...dimensions],
    items: items.map(({ quantity, unitPrice, amount, discount, ...item }) => ({
      ...item,
      quantity: String(quantity),
      unitPrice: unitPrice === null ? null : String(unitPrice),
      amount: String(amount),
      discount: String(discount),
    })),
  }));
  return deflated(JSON.stringify(texts), { level: LEVEL });
}

interface StoredItem extends Omit<UsageItemRow, 'quantity' | 'unitPrice' | 'amount' | 'discount'> {
  readonly quantity: string;
  readonly unitPrice: string | null;
  readonly amount: string;
  readonly discount: string;
}

interface StoredOutcome extends Omit<Outcome, 'items' | 'dimensions'> {
  readonly dimensions: readonly (readonly [string, string])[];
  readonly items: readonly StoredItem[];
}

/** Returns stored outcomes. @throws Error for bytes that `encodeOutcomes` did not write */
export async function decodeOutcomes(bytes: Buffer): Promise<Outcome[]> {
  const stored = JSON.parse((await inflated(bytes)).toString('utf8')) as StoredOutcome[];
  return stored.map(({ items, dimensions, ...rest }) => ({
    ...rest,
    dimensions: new Map(dimensions),
    items: items.map(({ quantity, unitPrice, amount, discount, ...item }) => ({
      ...item,
      quantity: BigInt(quantity),
      unitPrice: unitPrice === null ? null : BigInt(unitPrice),
      amount: BigInt(amount),
      discount: BigInt(discount),
    })),
  }));
}

/** Returns the row of an event with the outcome of its plan. Its charge items name no ledger transactions yet. */
export function withOutcome(former: UsageEventRow, { sent, ...outcome }: Outcome): UsageEventRow {
  const succeeded = { failureCode: '', failureMessage: '', failurePath: '', itemTransactionIds: [] };
  return { ...former, ...outcome, ...sent, ...succeeded };
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
    chargesOf(former.items) !== chargesOf(next.items)
  );
}

function isSentAnew(former: UsageEventRow, { sent, subjectIsSent }: Outcome): boolean {
  return (
    sent !== undefined &&
    (sent.rawJson !== former.rawJson ||
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

/** The rule that priced an item does not matter, only whether one did, and the price. */
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
    ]),
  );
  return texts.sort().join('\n');
}
