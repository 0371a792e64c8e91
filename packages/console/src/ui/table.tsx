import type { ReactNode } from 'react';
import { classes } from './classes.js';

export interface Column<Row> {
  readonly title: string;
  /** Numbers are aligned right. */
  readonly isNumber?: boolean;
  /**
   * Shows the title to screen readers only. For columns of buttons or badges, which are aligned right.
   */
  readonly isTitleHidden?: boolean;
  /** For columns of checkboxes, which need no space after them. */
  readonly isNarrow?: boolean;
  /** Leaves the column out on phones. For values that a `PhoneLine` or the page of the row shows, too. */
  readonly isForWideScreens?: boolean;
  /** Replaces the title in the head of the table. */
  readonly head?: ReactNode;
  readonly cell: (row: Row) => ReactNode;
}

export interface TableProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
}

/**
 * A table. On narrow screens it scrolls sideways within the page. Its position is relative so that hidden titles
 * do not widen the page.
 */
export function Table<Row>({ label, columns, rows, keyOf }: TableProps<Row>) {
  return (
    <section
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
      className="relative scrolls-sideways rounded-xl border border-line shadow-xs"
    >
      <table className="w-full text-[13px]">
        <thead className="text-left text-xs text-ink-faint">
          <tr>
            {columns.map(({ title, isNumber, isTitleHidden, isNarrow, isForWideScreens, head }) => (
              <th
                key={title}
                scope="col"
                className={classes(
                  'py-2.5 font-medium whitespace-nowrap',
                  isNarrow === true ? 'pl-2.5 sm:pl-4' : 'px-2.5 sm:px-4',
                  isNumber === true && 'text-right',
                  isForWideScreens === true && 'max-sm:hidden',
                )}
              >
                {head ?? <span className={isTitleHidden === true ? 'sr-only' : ''}>{title}</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} className="relative border-t border-line hover:bg-sunken">
              {columns.map(({ title, isNumber, isTitleHidden, isNarrow, isForWideScreens, cell }) => (
                <td
                  key={title}
                  className={classes(
                    'max-w-72 truncate py-2 2xl:max-w-96',
                    isNarrow === true ? 'pl-2.5 sm:pl-4' : 'px-2.5 sm:px-4',
                    (isNumber === true || isTitleHidden === true) && 'text-right whitespace-nowrap',
                    isForWideScreens === true && 'max-sm:hidden',
                  )}
                >
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Makes a link or button cover its whole row, so that a click anywhere in the row activates it. */
export const ROW_TARGET = 'font-medium after:absolute after:inset-0';

/** The value of a column that phones leave out, below the value of another one. It wraps, so that numbers have room. */
export function PhoneLine({ children }: { readonly children: ReactNode }) {
  return (
    <span className="block text-xs wrap-anywhere whitespace-normal text-ink-faint sm:hidden">{children}</span>
  );
}
