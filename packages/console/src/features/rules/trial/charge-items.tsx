import type { UsageChargeItem, UsageItemExplanation } from '@tollgate/contract';
import { decimal, money } from '../../../format.js';
import { totalsOf } from './comparison.js';

/** What an event is charged for: each number, and below it what gave it. */
export function ChargeItems({
  items,
  explanation,
}: {
  readonly items: readonly UsageChargeItem[];
  readonly explanation: readonly UsageItemExplanation[];
}) {
  const totals = totalsOf(items);
  const isPriced = items.some(({ pricing_source }) => pricing_source !== 'unpriced');
  return (
    <section aria-label="Charge items" className="overflow-x-auto rounded-xl border border-line bg-panel">
      <table className="w-full text-[13px]">
        <thead className="text-left text-xs text-ink-faint">
          <tr>
            <th scope="col" className="px-3.5 py-2 font-medium">
              Charge item
            </th>
            <NumberHead title="Quantity" />
            {isPriced && <NumberHead title="Unit price" />}
            {isPriced && <NumberHead title="Amount" />}
          </tr>
        </thead>
        <tbody>
          {items.map((item, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: items have no identity of their own, and never move
            <ChargeItemRow key={index} item={item} explanation={explanation[index]} isPriced={isPriced} />
          ))}
        </tbody>
        {totals.length > 0 && (
          <tfoot>
            {totals.map(({ currency, amount }) => (
              <tr key={currency} className="border-t border-line-strong font-medium">
                <th scope="row" colSpan={3} className="px-3.5 py-2 text-left font-medium">
                  Total in {currency}
                </th>
                <NumberCell text={amount} shown={money(amount, currency)} />
              </tr>
            ))}
          </tfoot>
        )}
      </table>
    </section>
  );
}

function NumberHead({ title }: { readonly title: string }) {
  return (
    <th scope="col" className="px-3.5 py-2 text-right font-medium whitespace-nowrap">
      {title}
    </th>
  );
}

function NumberCell({ text, shown }: { readonly text: string | null; readonly shown: string }) {
  return (
    <td className="px-3.5 py-2 text-right align-top whitespace-nowrap" title={text ?? ''}>
      {shown}
    </td>
  );
}

function ChargeItemRow({
  item,
  explanation,
  isPriced,
}: {
  readonly item: UsageChargeItem;
  readonly explanation: UsageItemExplanation | undefined;
  /** Whether any item of the event has a price. */
  readonly isPriced: boolean;
}) {
  const { extractor_name, metric, unit, quantity, unit_price } = item;
  const name = extractor_name ?? metric;
  return (
    <tr className="border-t border-line">
      <th scope="row" className="min-w-44 px-3.5 py-2 text-left align-top font-normal">
        <span className="font-medium">{name}</span>
        {name !== metric && <code className="ml-2 font-mono text-xs text-ink-faint">{metric}</code>}
        <span className="mt-0.5 block text-xs text-ink-soft">{originOf(item, isPriced)}</span>
        {explanation !== undefined && <Expressions of={explanation} />}
      </th>
      <NumberCell
        text={quantity}
        shown={unit === null || unit === '' ? decimal(quantity) : `${decimal(quantity)} ${unit}`}
      />
      {isPriced && <NumberCell text={unit_price} shown={unit_price === null ? '—' : decimal(unit_price)} />}
      {isPriced && <AmountCell item={item} />}
    </tr>
  );
}

function AmountCell({ item }: { readonly item: UsageChargeItem }) {
  const { amount, discount, currency, pricing_source } = item;
  return (
    <td className="px-3.5 py-2 text-right align-top whitespace-nowrap" title={amount}>
      {pricing_source === 'unpriced' ? (
        <span className="text-ink-faint">no price</span>
      ) : (
        money(amount, currency)
      )}
      {discount !== '0' && (
        <span className="block text-xs text-ink-soft" title={discount}>
          after {decimal(discount)} off
        </span>
      )}
    </td>
  );
}

/** Who said how much it is, and who what that costs. */
function originOf(item: UsageChargeItem, isPriced: boolean): string {
  const read = item.source === 'x_billing' ? 'sent as x-billing' : 'read by the extractor';
  return isPriced ? `${read}, ${priceOriginOf(item)}` : read;
}

function priceOriginOf({ pricing_source, rule_name, rule_set_version }: UsageChargeItem): string {
  if (pricing_source === 'unpriced') return 'no rule has a price for it';
  if (pricing_source === 'hint') return 'priced by the event';
  if (pricing_source === 'extractor') return 'priced by the extractor';
  const version = rule_set_version === null ? 'of these rules' : `of version ${rule_set_version}`;
  return `priced by “${rule_name ?? ''}” ${version}`;
}

/** Where the numbers were read, and by which expressions they were computed. */
function Expressions({ of }: { readonly of: UsageItemExplanation }) {
  const { path, less_paths } = of.quantity;
  const parts = [
    path === null ? null : [path, ...less_paths.map((less) => `− ${less}`)].join(' '),
    of.priced_by.match_expr === null ? null : `if ${of.priced_by.match_expr}`,
    of.unit_price.expression,
    of.amount.expression,
  ].filter((part) => part !== null);
  if (parts.length === 0) return null;
  return (
    <span className="mt-1 block max-w-md font-mono text-xs break-all text-ink-faint">
      {parts.join(' · ')}
    </span>
  );
}
