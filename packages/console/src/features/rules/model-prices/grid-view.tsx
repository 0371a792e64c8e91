import type { PricingRule } from '@tollgate/contract';
import { Plus } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { Button } from '../../../ui/button.js';
import { TextInput } from '../../../ui/field.js';
import { EmptyState } from '../../../ui/states.js';
import type { PricingBody } from '../body.js';
import { useRulesForm } from '../form/context.js';
import type { FormPart } from '../form/fields.js';
import { GridTable } from './grid-table.js';
import { type GridRow, priceGridOf, withGridPrice, withoutGridRow, withPastedPrices } from './price-grid.js';

const NO_RULES: readonly PricingRule[] = [];

/** Prices by model and metric, per million units. It edits the pricing rules that have such a price. */
export function GridView({
  value,
  metrics,
  onChange,
}: Omit<FormPart<PricingBody>, 'path'> & {
  /** Metrics of the extractor rule set. */
  readonly metrics: readonly string[];
}) {
  const { isReadOnly, dimensionNames } = useRulesForm();
  const { rules = NO_RULES } = value;
  const [added, setAdded] = useState<readonly GridRow[]>([]);
  const gridOf = (of: readonly PricingRule[]) => priceGridOf(of, metrics, dimensionNames);
  const grid = gridOf(rules);
  const known = [...new Set([...grid.rows, ...added])];
  const rows = [...known.filter((row) => row !== null), ...known.filter((row) => row === null)];
  const setRules = (next: readonly PricingRule[]) => onChange({ ...value, rules: next });
  const add = (row: GridRow) => setAdded([...added.filter((each) => each !== row), row]);
  return (
    <div className="flex max-w-6xl flex-col gap-4">
      <p className="max-w-prose text-xs text-ink-faint">
        {value.currency} per 1,000,000 units, by {grid.dimension}. Each price is a rule; an empty cell has
        none.
        {grid.otherCount > 0 &&
          ` ${grid.otherCount} other ${grid.otherCount === 1 ? 'rule is' : 'rules are'} not shown here and ${grid.otherCount === 1 ? 'stays' : 'stay'} as in the form.`}
      </p>
      {rows.length === 0 || grid.metrics.length === 0 ? (
        <EmptyState title={`No prices by ${grid.dimension} yet`}>
          {grid.metrics.length === 0
            ? 'The extractor rule set has no charge items to price.'
            : 'Add a name as it appears in events, then enter its prices.'}
        </EmptyState>
      ) : (
        <GridTable
          grid={grid}
          rows={rows}
          onPrice={(cell) => {
            // A row stays when its last price is cleared.
            add(cell.row);
            setRules(withGridPrice(rules, grid, cell));
          }}
          onPaste={(paste) => setRules(withPastedPrices(rules, gridOf, paste))}
          onRemove={(row) => {
            setAdded(added.filter((each) => each !== row));
            setRules(withoutGridRow(rules, grid, row));
          }}
        />
      )}
      {!isReadOnly && <AddRow dimension={grid.dimension} rows={rows} onAdd={add} />}
    </div>
  );
}

function AddRow({
  dimension,
  rows,
  onAdd,
}: {
  readonly dimension: string;
  readonly rows: readonly GridRow[];
  readonly onAdd: (row: GridRow) => void;
}) {
  const [name, setName] = useState('');
  const isKnown = rows.includes(name.trim());
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() === '' || isKnown) return;
    onAdd(name.trim());
    setName('');
  };
  return (
    <form onSubmit={submit} className="flex flex-wrap items-center gap-2">
      <TextInput
        aria-label={`New ${dimension}`}
        placeholder="gpt-5-mini"
        className="w-56 max-w-full font-mono text-xs"
        spellCheck={false}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <Button type="submit" disabled={name.trim() === '' || isKnown}>
        <Plus size={14} /> Add {dimension}
      </Button>
      {!rows.includes(null) && (
        <Button look="quiet" onClick={() => onAdd(null)}>
          Add a price for all others
        </Button>
      )}
      {isKnown && <p className="text-xs text-ink-faint">{name.trim()} is already in the grid.</p>}
    </form>
  );
}
