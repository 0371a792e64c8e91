import { X } from 'lucide-react';
import { type ClipboardEvent, type KeyboardEvent, useId } from 'react';
import { plainNumber } from '../../../plain-number.js';
import { IconButton } from '../../../ui/button.js';
import { TextInput } from '../../../ui/field.js';
import { useRulesForm } from '../form/context.js';
import { scaledNumber } from '../price-model/amount-at.js';
import type { GridRow, PriceGrid } from './price-grid.js';

interface GridTableProps {
  readonly grid: PriceGrid;
  readonly rows: readonly GridRow[];
  readonly onPrice: (cell: { row: GridRow; metric: string; price: string }) => void;
  readonly onPaste: (paste: { rows: readonly GridRow[]; metrics: readonly string[]; text: string }) => void;
  readonly onRemove: (row: GridRow) => void;
}

/** The prices as a table of inputs. Arrow keys and Enter move between rows; a block of cells can be pasted. */
export function GridTable(table: GridTableProps) {
  const { rows } = table;
  const { metrics, dimension } = table.grid;
  return (
    <section
      aria-label={`Prices by ${dimension}`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
      className="relative scrolls-sideways rounded-xl border border-line shadow-xs"
    >
      <table className="w-full text-[13px]">
        <thead className="text-left text-xs text-ink-faint">
          <tr>
            <th scope="col" className="sticky left-0 bg-panel px-4 py-2.5 font-medium">
              {dimension}
            </th>
            {metrics.map((metric) => (
              <th key={metric} scope="col" title={metric} className="min-w-32 px-2 py-2.5 font-medium">
                {columnTitle(metric)}
                <span className="block font-mono text-[11px] font-normal">{metric}</span>
              </th>
            ))}
            <th scope="col">
              <span className="sr-only">Remove</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <PriceRow key={JSON.stringify(row)} {...table} row={row} index={index} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function PriceRow({
  row,
  index,
  ...table
}: GridTableProps & { readonly row: GridRow; readonly index: number }) {
  const { isReadOnly } = useRulesForm();
  const { grid, rows, onPrice, onPaste, onRemove } = table;
  const { metrics } = grid;
  const name = row ?? 'all others';
  return (
    <tr className="border-t border-line align-top">
      <th
        scope="row"
        title={name}
        className="sticky left-0 max-w-32 truncate bg-panel px-4 py-3.5 text-left font-mono text-xs font-medium sm:max-w-72"
      >
        {row ?? <span className="font-sans text-ink-soft">All others</span>}
      </th>
      {metrics.map((metric, column) => (
        <td key={metric} className="px-2 py-1.5">
          <PriceCell
            label={`${columnTitle(metric)} of ${name}`}
            place={`${index},${column}`}
            price={grid.priceAt(row, metric)}
            rule={grid.ruleAt(row, metric)}
            onChange={(price) => onPrice({ row, metric, price })}
            onPaste={(text) => onPaste({ rows: rows.slice(index), metrics: metrics.slice(column), text })}
          />
        </td>
      ))}
      <td className="py-1.5 pr-2 text-right">
        {!isReadOnly && (
          <IconButton label={`Remove ${name}`} onClick={() => onRemove(row)}>
            <X size={16} />
          </IconButton>
        )}
      </td>
    </tr>
  );
}

function PriceCell({
  label,
  place,
  price,
  rule,
  onChange,
  onPaste,
}: {
  readonly label: string;
  /** Row and column, by which keys find the next cell. */
  readonly place: string;
  readonly price: string;
  readonly rule: number | undefined;
  readonly onChange: (price: string) => void;
  readonly onPaste: (text: string) => void;
}) {
  const { isReadOnly, findings } = useRulesForm();
  const id = useId();
  const found = findings.find(({ path }) => rule !== undefined && path.startsWith(`rules[${rule}].`));
  const isNumber = price === '' || scaledNumber(price) !== undefined;
  const error = isNumber ? found?.message : 'Enter a number such as 0.25.';
  return (
    <>
      <TextInput
        aria-label={label}
        aria-invalid={error !== undefined}
        aria-describedby={id}
        className="tabular w-full min-w-20 text-right"
        inputMode="decimal"
        placeholder="—"
        readOnly={isReadOnly}
        data-place={place}
        value={price}
        onChange={(event) => onChange(plainNumber(event.target.value))}
        onKeyDown={moveByKey}
        onPaste={(event) => {
          const text = blockIn(event);
          if (text === undefined || isReadOnly) return;
          event.preventDefault();
          onPaste(text);
        }}
      />
      <p id={id} className="mt-1 text-xs text-bad empty:hidden">
        {error}
      </p>
    </>
  );
}

/** Several cells on the clipboard; a single value is pasted as text. */
function blockIn({ clipboardData }: ClipboardEvent): string | undefined {
  const text = clipboardData.getData('text/plain').trimEnd();
  return /[\t\n]/.test(text) ? text : undefined;
}

const ROW_STEPS: Readonly<Record<string, number>> = { ArrowUp: -1, ArrowDown: 1, Enter: 1 };

/** Moves the focus to the same column of the row above or below. */
function moveByKey({ key, currentTarget }: KeyboardEvent<HTMLInputElement>): void {
  const step = ROW_STEPS[key];
  if (step === undefined) return;
  const [row, column] = (currentTarget.dataset.place ?? '').split(',').map(Number);
  const next = `[data-place="${(row ?? 0) + step},${column ?? 0}"]`;
  currentTarget.closest('table')?.querySelector<HTMLInputElement>(next)?.focus();
}

/** A metric as a heading: `llm.cached_input_tokens` is "cached input". */
function columnTitle(metric: string): string {
  const name = metric.split('.').at(-1) ?? metric;
  return name.replace(/_tokens$/, '').replaceAll('_', ' ');
}
