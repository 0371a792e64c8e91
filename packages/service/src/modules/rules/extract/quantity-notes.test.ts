import { expect, it } from 'vitest';
import { parseLossless } from '../../../kernel/json.js';
import { items, rate } from '../testing.js';
import { quantityNotes } from './index.js';

const CONFIG = items(
  { metric: 'plain', path: 'n', less_paths: ['m'] },
  { metric: 'clamped', path: 'n', less_paths: ['a'], on_negative: 'clamp' },
  { metric: 'kept', name: 'Kept', path: 'n', less_paths: ['a'], on_negative: 'keep' },
  { metric: 'beside', path: 'n', less_paths: ['a'], stated_total: { path: 'all' } },
);
const RAW_JSON = '{"n": 5, "a": 6, "all": 11}';
const notesOf = (...billed: string[]) =>
  quantityNotes(CONFIG, () => parseLossless(RAW_JSON), new Set(billed));

it('finds again what rating has noted', () => {
  const rated = rate(CONFIG, RAW_JSON);
  expect(rated.ok && rated.notes).toEqual(notesOf());
  expect(notesOf()).toEqual([
    {
      code: 'quantity_clamped',
      metric: 'clamped',
      path: 'charge_item_extractors[1].less_paths',
      message: 'What is subtracted for clamped is more than there is: its quantity is 0.',
    },
    {
      code: 'quantity_kept',
      metric: 'kept',
      path: 'charge_item_extractors[2].less_paths',
      message: 'What is subtracted for Kept is more than there is: nothing was subtracted.',
    },
    {
      code: 'quantity_parts_beside',
      metric: 'beside',
      path: 'charge_item_extractors[3].stated_total',
      message: 'all counts what is subtracted for beside beside it: nothing was subtracted.',
    },
  ]);
});

it('leaves out metrics of which the event has charge items of its own', () => {
  const rated = rate(CONFIG, RAW_JSON, { billing: { items: [{ metric: 'kept', quantity: 1 }] } });
  expect(rated.ok && rated.notes).toEqual(notesOf('kept'));
  expect(notesOf('kept').map(({ metric }) => metric)).toEqual(['clamped', 'beside']);
});

it('does not parse an event whose rules can note nothing', () => {
  const parse = () => {
    throw new Error('parsed');
  };
  expect(quantityNotes(items({ less_paths: ['a'] }), parse, new Set())).toEqual([]);
});
