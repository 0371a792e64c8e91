import { PostedChargeItem, UsageEvent } from '@tollgate/contract';
import { describe, expect, it } from 'vitest';
import { EXPORT_TEXTS } from './export-format.js';

describe('the CSV of an export', () => {
  const columns = EXPORT_TEXTS.csv.head.trim().split(',');
  /** Whether a field has a column, or columns for its members. */
  const hasColumn = (field: string) =>
    columns.some((column) => column === field || column.startsWith(`${field}.`));

  it('has every field of an event', () => {
    const fields = Object.keys(UsageEvent.properties).filter((field) => field !== 'charge_items');
    expect(fields.filter((field) => !hasColumn(field))).toEqual([]);
  });

  it('has every field of a charge item', () => {
    const fields = Object.keys(PostedChargeItem.properties);
    expect(fields.filter((field) => !hasColumn(`item.${field}`))).toEqual([]);
  });
});
