import { stored } from '../../testing/index.js';
import type { TestContent, TestPrices } from './project.testing.js';

/** A charge item of an event, as it must be. Decimals × 10^18. */
export interface TrueItem {
  readonly metric: string;
  /** Empty without a price. */
  readonly currency: string;
  readonly quantity: bigint;
  readonly amount: bigint;
}

/** The content and the result of a revision, as they must be. */
export interface Truth {
  readonly content: TestContent;
  readonly status: 'processed' | 'failed' | 'voided';
  readonly subject: string;
  readonly items: readonly TrueItem[];
  /** The account that pays; empty where none is debited. */
  readonly account: string;
}

const ONE = 10n ** 18n;

/** Rates an event by the rules of tests; without its account. */
export function rated(content: TestContent, { token, isStrict = false }: TestPrices): Omit<Truth, 'account'> {
  const { customer = '', model, n, calls, bytes } = content;
  if (typeof n === 'string' || (isStrict && model === undefined)) {
    return { content, status: 'failed', subject: '', items: [] };
  }
  const item = (metric: string, currency: string, count: number | undefined, price: bigint): TrueItem[] =>
    count === undefined
      ? []
      : [{ metric, currency, quantity: BigInt(count) * ONE, amount: BigInt(count) * price }];
  const items = [
    ...item('llm.tokens', 'USD', n, stored(token)),
    ...item('llm.calls', 'EUR', calls, 2n * ONE),
    ...item('net.bytes', '', bytes, 0n),
  ];
  return { content, status: 'processed', subject: customer, items };
}

/** Returns the result of rating an event again; undefined if it would fail. */
export function ratedAgain(
  former: Truth,
  content: TestContent,
  prices: TestPrices,
  accountOf: (subject: string) => string,
): Truth | undefined {
  const next = rated(content, prices);
  if (next.status === 'failed') return undefined;
  const isKept = former.account !== '' && former.subject === next.subject;
  const isPriced = next.items.some(({ currency }) => currency !== '');
  return { ...next, account: isPriced ? (isKept ? former.account : accountOf(next.subject)) : '' };
}

export function voidedTruth({ content, subject }: Truth): Truth {
  return { content, subject, status: 'voided', items: [], account: '' };
}

/** Whether two revisions differ in anything that is charged, counted or shown. */
export function differs(a: Truth, b: Truth): boolean {
  return textOf(a) !== textOf(b);
}

function textOf({ content, status, subject, items, account }: Truth): string {
  const texts = items.map((item) => `${item.metric} ${item.currency} ${item.quantity} ${item.amount}`);
  return JSON.stringify([content, status, subject, texts, account]);
}
