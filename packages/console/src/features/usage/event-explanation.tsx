import type { PostedChargeItem, UsageEventDetail, UsageItemExplanation } from '@tollgate/contract';
import type { ReactNode } from 'react';
import { priceText, quantityText } from '../../expressions.js';
import { money } from '../../format.js';
import { useProject } from '../../project.js';
import { wordsOfTotal } from '../../total-words.js';
import { EventNotes } from '../../ui/event-notes.js';
import { InlineLink } from '../../ui/inline-link.js';
import { UnpricedNotes } from '../../ui/unpriced-notes.js';

const PRICED_BY: Readonly<Record<UsageItemExplanation['priced_by']['pricing_source'], string>> = {
  hint: 'the price sent with the event',
  extractor: 'the extractor rule set',
  pricing_rule_set: 'a pricing rule set',
  unpriced: 'nothing (no price)',
};

/**
 * Explains each number of an event: the quantity that was read, its price, its discount and its ledger
 * transaction. Every digit is shown.
 */
export function Explanation({ detail }: { readonly detail: UsageEventDetail }) {
  const { id } = useProject();
  const { extractor, charge_items: explained } = detail.explanation;
  return (
    <section aria-label="Calculation">
      <h3 className="mb-2 text-[13px] font-semibold">Calculation</h3>
      <p className="mb-2 text-[13px] text-ink-soft">
        Extracted by{' '}
        <InlineLink href={`/p/${id}/rules/extractor/${extractor.rule_set_id}`}>
          {extractor.name ?? extractor.rule_set_id}
        </InlineLink>
        {extractor.version !== null && `, version ${extractor.version}`}.
      </p>
      <EventNotes notes={detail.notes} />
      <ul className="flex flex-col gap-2">
        {explained.map((item, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: items have no identity of their own, and never move
          <Item key={index} item={item} posted={detail.charge_items[index]} />
        ))}
      </ul>
      <div className="mt-2 flex flex-col gap-2">
        <UnpricedNotes items={detail.unpriced} />
      </div>
    </section>
  );
}

function Item({
  item,
  posted,
}: {
  readonly item: UsageItemExplanation;
  readonly posted: PostedChargeItem | undefined;
}) {
  const { quantity, unit_price, amount, discount } = item;
  return (
    <li className="tabular rounded-lg border border-line px-3 py-2.5 text-[13px]">
      <div className="flex flex-wrap justify-between gap-x-4">
        <span className="font-medium">{item.metric}</span>
        <span title={amount.value} className="font-medium">
          {money(amount.value, amount.currency)}
        </span>
      </div>
      <dl className="mt-1.5 grid grid-cols-[4.5rem_minmax(0,1fr)] gap-x-3 gap-y-1 text-xs">
        <Step name="Quantity" code={quantityText(quantity) ?? quantity.extractor_name}>
          {quantity.value} {posted?.unit}
        </Step>
        {unit_price.value !== null && (
          <Step
            name="Price"
            code={unit_price.expression && priceText(unit_price.expression, unit_price.pricing_unit)}
          >
            × {unit_price.value}
          </Step>
        )}
        {item.total !== null && <Total item={item} total={item.total} unit={posted?.unit ?? null} />}
        {discount !== null && (
          <Step name="Discount" code={null}>
            − {discount.value}
            {discount.percent !== null && ` (${discount.percent} %)`} of {amount.before_discount}
          </Step>
        )}
        <Step name="Amount" code={amount.expression}>
          {amount.value} {amount.currency}
        </Step>
        <PricedBy item={item} />
        {item.cost !== null && <CostStep cost={item.cost} />}
        <PostedBy posted={posted} />
      </dl>
    </li>
  );
}

/** How the amount follows from a total over a period. */
function Total({
  item: { amount },
  total,
  unit,
}: {
  readonly item: UsageItemExplanation;
  readonly total: NonNullable<UsageItemExplanation['total']>;
  readonly unit: string | null;
}) {
  const { currency, before_discount } = amount;
  const { totals, prices, counter } = wordsOfTotal(total, { unit, currency, amount: before_discount });
  return (
    <Step name="Total" code={total.expression}>
      <span className="block">{totals}</span>
      {prices !== undefined && <span className="block">{prices}</span>}
      <span className="block text-ink-faint">{counter}</span>
    </Step>
  );
}

function Step({
  name,
  code,
  children,
}: {
  readonly name: string;
  readonly code: string | null;
  readonly children: ReactNode;
}) {
  return (
    <>
      <dt className="text-ink-faint">{name}</dt>
      <dd className="min-w-0 break-words text-ink-soft">
        {children}
        {code !== null && <code className="mt-0.5 block font-mono break-all text-ink-faint">{code}</code>}
      </dd>
    </>
  );
}

function PricedBy({ item: { priced_by: by } }: { readonly item: UsageItemExplanation }) {
  const { id } = useProject();
  const kind = by.pricing_source === 'pricing_rule_set' ? 'pricing' : 'extractor';
  return (
    <Step name="Priced by" code={by.match_expr}>
      {by.rule_set_id === null ? (
        PRICED_BY[by.pricing_source]
      ) : (
        <>
          {by.rule_name !== null && (
            <>
              <bdi>{by.rule_name}</bdi>,{' '}
            </>
          )}
          <InlineLink href={`/p/${id}/rules/${kind}/${by.rule_set_id}`}>
            {PRICED_BY[by.pricing_source]}
          </InlineLink>
          {by.rule_set_version !== null && `, version ${by.rule_set_version}`}
          {by.priority !== null && `, priority ${by.priority}`}
        </>
      )}
      {by.aliases.map(({ dimension, from, value }) => (
        <span key={dimension} className="block">
          {dimension} <bdi>{from}</bdi> priced as <bdi>{value}</bdi>
        </span>
      ))}
      {by.hint !== null && `: ${by.hint.unit_price} for ${by.hint.pricing_unit}`}
    </Step>
  );
}

function CostStep({ cost }: { readonly cost: NonNullable<UsageItemExplanation['cost']> }) {
  const { id } = useProject();
  const { unit_price_expression: unitPrice, pricing_unit: unit, expression } = cost;
  return (
    <Step name="Cost" code={unitPrice === null ? expression : priceText(unitPrice, unit)}>
      {cost.value} {cost.currency} by <bdi>{cost.rule}</bdi>
      {cost.pricing_rule_set_id !== null && (
        <>
          ,{' '}
          <InlineLink href={`/p/${id}/rules/pricing/${cost.pricing_rule_set_id}`}>a cost rule set</InlineLink>
        </>
      )}
      {cost.version !== null && `, version ${cost.version}`}
      {cost.aliases.map(({ dimension, from, value }) => (
        <span key={dimension} className="block">
          {dimension} <bdi>{from}</bdi> costs as <bdi>{value}</bdi>
        </span>
      ))}
    </Step>
  );
}

function PostedBy({ posted }: { readonly posted: PostedChargeItem | undefined }) {
  const { id } = useProject();
  const transaction = posted?.ledger_transaction_id ?? null;
  if (transaction === null) return null;
  return (
    <Step name="Transaction" code={null}>
      <InlineLink href={`/p/${id}/usage?ledger_transaction_id=${transaction}`}>{transaction}</InlineLink>
    </Step>
  );
}
