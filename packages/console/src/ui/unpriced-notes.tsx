import { PRICED_METRICS_MAX, type UnpricedItem } from '@tollgate/contract';

/** Lists charge items without a price, and the reasons why the closest rules do not match. */
export function UnpricedNotes({ items }: { readonly items: readonly UnpricedItem[] }) {
  return items.map((item, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: items have no identity of their own, and never move
    <UnpricedNote key={index} item={item} />
  ));
}

function UnpricedNote({
  item: { metric, nearest_rules: nearest, priced_metrics: priced },
}: {
  readonly item: UnpricedItem;
}) {
  return (
    <section
      aria-label={`No price for ${metric}`}
      className="rounded-lg bg-warn-soft px-3.5 py-2.5 text-[13px] text-warn"
    >
      <p className="wrap-anywhere">
        <strong className="font-semibold">
          {priced.length > 0
            ? `No price rule names the metric ${metric}.`
            : `No price rule matched ${metric}.`}
        </strong>{' '}
        {priced.length > 0
          ? `Rules price ${priced.join(', ')}${priced.length === PRICED_METRICS_MAX ? ', …' : ''}.`
          : nearest.length === 0
            ? 'No pricing rule is active.'
            : 'Closest rules:'}
      </p>
      {nearest.length > 0 && (
        <ul className="mt-1 flex flex-col gap-1 text-ink-soft">
          {nearest.map(({ rule_set_id, rule_name, match_expr, message }) => (
            <li key={`${rule_set_id} ${rule_name}`} className="wrap-anywhere">
              <bdi className="font-medium text-ink">{rule_name}</bdi>: {message}{' '}
              {match_expr !== null && <code className="font-mono text-xs text-ink-faint">{match_expr}</code>}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
