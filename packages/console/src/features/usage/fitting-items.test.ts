import type { PostedChargeItem } from '@tollgate/contract';
import { expect, it } from 'vitest';
import { asksForItems, fittingItems } from './fitting-items.js';

const item = (metric: string, currency: string | null, fields: Partial<PostedChargeItem> = {}) =>
  ({
    metric,
    currency,
    pricing_source: 'extractor',
    ledger_transaction_id: null,
    ...fields,
  }) as PostedChargeItem;
const items = [
  item('in', 'USD', { ledger_transaction_id: 'led_1' }),
  item('out', 'USD'),
  item('in', 'EUR'),
  item('seats', null, { pricing_source: 'unpriced' }),
];

const cases: [Parameters<typeof fittingItems>[1], number[]][] = [
  [{}, [0, 1, 2, 3]],
  [{ metric: [] }, [0, 1, 2, 3]],
  [{ metric: ['in', 'seats'] }, [0, 2, 3]],
  [{ metric: ['in'], currency: 'USD' }, [0]],
  [{ pricing_source: 'unpriced' }, [3]],
  [{ ledger_transaction_id: 'led_1' }, [0]],
];

it.each(cases)('by %o an event is found for the items %o', (eventQuery, found) => {
  expect(fittingItems({ charge_items: items }, eventQuery)).toEqual(found.map((index) => items[index]));
  expect(asksForItems(eventQuery)).toBe(found.length < items.length);
});
