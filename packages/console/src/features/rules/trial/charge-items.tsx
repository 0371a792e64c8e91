import type { UsageChargeItem, UsageItemExplanation } from '@tollgate/contract';
import type { ReactNode } from 'react';
import { totalsOf } from '../../../exact-sum.js';
import { priceText, quantityText } from '../../../expressions.js';
import { decimalExact } from '../../../format.js';
import { wordsOfTotal } from '../../../total-words.js';

/** The charge items of an event, with all digits and the origin of each number. */
export function ChargeItems({
  items,
  explanation,
}: {
  readonly items: readonly UsageChargeItem[];
  readonly explanation: readonly UsageItemExplanation[];
}) {
  const totals = totalsOf(items);
  return (
    <section
      aria-label="Charge items"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
      className="scrolls-sideways rounded-xl border border-line"
    >
      <table className="w-full text-[13px]">
        <thead className="text-left text-xs text-ink-faint">
          <tr>
            <th scope="col" className="px-3.5 py-2 font-medium">
              Charge item
            </th>
            <NumberHead title="Quantity" />
            <NumberHead title="Unit price" />
            <NumberHead title="Amount" />
          </tr>
        </thead>
        {items.map((item, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: items have no identity of their own, and never move
          <tbody key={index} className="border-t border-line">
            <Numbers item={item} />
            <tr>
              <td colSpan={4} className="px-3.5 pb-2">
                <Origin item={item} explanation={explanation[index]} />
              </td>
            </tr>
          </tbody>
        ))}
        {totals.length > 0 && (
          <tfoot>
            {totals.map(({ currency, amount }) => (
              <tr key={currency} className="border-t border-line-strong font-medium">
                <th scope="row" colSpan={3} className="px-3.5 py-2 text-left font-medium">
                  Total in {currency}
                </th>
                <td className="px-3.5 py-2 text-right whitespace-nowrap">
                  {decimalExact(amount)} {currency}
                </td>
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

const NUMBER = 'px-3.5 pt-2 text-right align-top whitespace-nowrap';

function Numbers({ item }: { readonly item: UsageChargeItem }) {
  const { extractor_name, metric, unit, quantity, unit_price, amount, currency } = item;
  return (
    <tr>
      <th scope="row" className="px-3.5 min-w-24 pt-2 text-left align-top font-medium">
        {extractor_name ?? metric}
      </th>
      <td className={NUMBER}>
        {decimalExact(quantity)} <span className="text-ink-faint">{unit}</span>
      </td>
      <td className={NUMBER}>{unit_price === null ? '—' : decimalExact(unit_price)}</td>
      <td className={NUMBER}>
        {item.pricing_source === 'unpriced' ? (
          <span className="text-ink-faint">no price</span>
        ) : (
          `${decimalExact(amount)} ${currency ?? ''}`
        )}
      </td>
    </tr>
  );
}

/** The default amount, quantity × unit price, which is not shown. */
const AMOUNT_EXPRESSION_DEFAULT = 'dec_mul(item.quantity, item.unit_price)';

function unitPriceOf(explanation: UsageItemExplanation | undefined): string | null {
  const { expression = null, pricing_unit: unit } = explanation?.unit_price ?? {};
  return expression === null ? null : priceText(expression, unit);
}

/** The origin of a charge item: the path of its quantity, and the rule and expressions of its price. */
function Origin({
  item,
  explanation,
}: {
  readonly item: UsageChargeItem;
  readonly explanation: UsageItemExplanation | undefined;
}) {
  const quantity = explanation === undefined ? null : quantityText(explanation.quantity);
  const amountExpression = explanation?.amount.expression;
  const expressions = [
    explanation?.priced_by.match_expr,
    unitPriceOf(explanation),
    amountExpression === AMOUNT_EXPRESSION_DEFAULT ? null : amountExpression,
  ].filter((expression) => expression != null);
  return (
    <div className="flex flex-col gap-0.5 text-xs normal-nums text-ink-soft">
      <p className="wrap-anywhere">
        <Code>{item.metric}</Code>{' '}
        {item.source === 'x_billing'
          ? 'as sent in x-billing'
          : quantity !== null && (
              <>
                from <Code>{quantity}</Code>
              </>
            )}
      </p>
      <p className="wrap-anywhere">
        {priceOriginOf(item)}
        {explanation?.priced_by.aliases.map(({ dimension, from, value }) => (
          <span key={dimension}>
            , {dimension} <Code>{from}</Code> priced as <Code>{value}</Code>
          </span>
        ))}
        {expressions.map((expression) => (
          <span key={expression}>
            {' · '}
            <Code>{expression}</Code>
          </span>
        ))}
        {item.discount !== '0' && ` · after a discount of ${item.discount}`}
      </p>
      {explanation?.total != null && (
        <TotalOrigin item={item} explanation={explanation} total={explanation.total} />
      )}
      {item.cost && <CostLine cost={item.cost} explanation={explanation?.cost ?? null} />}
    </div>
  );
}

/** How the amount follows from a total over a period. */
function TotalOrigin({
  item: { unit, currency },
  explanation: { amount },
  total,
}: {
  readonly item: UsageChargeItem;
  readonly explanation: UsageItemExplanation;
  readonly total: NonNullable<UsageItemExplanation['total']>;
}) {
  const words = wordsOfTotal(total, { unit, currency, amount: amount.before_discount });
  return (
    <p className="wrap-anywhere">
      {words.totals}
      {words.prices !== undefined && `. ${words.prices}`}. {words.counter}
      {total.expression !== null && (
        <>
          {' · '}
          <Code>{total.expression}</Code>
        </>
      )}
    </p>
  );
}

function CostLine({
  cost: { amount, currency, rule, version },
  explanation,
}: {
  readonly cost: NonNullable<UsageChargeItem['cost']>;
  readonly explanation: UsageItemExplanation['cost'];
}) {
  const { unit_price_expression: unitPrice = null, pricing_unit: unit = null } = explanation ?? {};
  const expressions = [
    explanation?.match_expr,
    unitPrice === null ? null : priceText(unitPrice, unit),
    explanation?.expression === AMOUNT_EXPRESSION_DEFAULT ? null : explanation?.expression,
  ].filter((expression) => expression != null);
  return (
    <p className="wrap-anywhere">
      Costs{' '}
      <span className="tabular">
        {decimalExact(amount)} {currency}
      </span>{' '}
      by “<bdi>{rule}</bdi>” {version === null ? 'of these rules' : `of version ${version}`}
      {expressions.map((expression) => (
        <span key={expression}>
          {' · '}
          <Code>{expression}</Code>
        </span>
      ))}
    </p>
  );
}

function Code({ children }: { readonly children: string }) {
  return <code className="font-mono wrap-anywhere text-ink-faint">{children}</code>;
}

function priceOriginOf({ pricing_source, rule_name, rule_set_version }: UsageChargeItem): ReactNode {
  if (pricing_source === 'unpriced') return 'No price rule matched';
  if (pricing_source === 'hint') return 'Priced by the event';
  if (pricing_source === 'extractor') return 'Priced by the extractor';
  const version = rule_set_version === null ? 'of these rules' : `of version ${rule_set_version}`;
  return (
    <>
      Priced by “<bdi>{rule_name}</bdi>” {version}
    </>
  );
}
