import { useQuery } from '@tanstack/react-query';
import { useMay } from '../../api/session.js';
import { nowS } from '../../clock.js';
import { count } from '../../format.js';
import { useProjectClient } from '../../project.js';
import { Amount } from '../../ui/amount.js';
import type { EventQuery } from './filters.js';
import { asksForItems } from './fitting-items.js';
import { sumQuery } from './sum-query.js';

const LIVE_MS = 5_000;

/** The total of all matching events, over all pages of the list, per currency. */
export function UsageSum({
  eventQuery,
  isLive,
}: {
  readonly eventQuery: EventQuery;
  readonly isLive: boolean;
}) {
  const mayAsk = useMay('analytics:read');
  const { projectId, analysis } = useProjectClient();
  const isAsked = mayAsk && sumQuery(eventQuery, nowS()) !== undefined;
  const sum = useQuery({
    queryKey: ['events', projectId, eventQuery, 'sum'],
    enabled: isAsked,
    queryFn: async ({ signal }) => {
      const query = sumQuery(eventQuery, nowS());
      return query === undefined ? null : analysis.query(query, { signal });
    },
    refetchInterval: isLive ? LIVE_MS : false,
  });
  const { currency } = eventQuery;
  const rows = (sum.data?.rows ?? []).filter((row) => currency === undefined || row.currency === currency);
  if (!isAsked) return null;
  const items = rows.reduce((all, row) => all + (row.item_count ?? 0), 0);
  const priced = rows.filter((row) => row.currency !== null);
  return (
    <section
      aria-label="Total"
      className="tabular flex min-h-9 flex-wrap items-baseline gap-x-4 rounded-lg bg-sunken px-3.5 py-2 text-[13px]"
    >
      {sum.isSuccess && (
        <>
          {priced.map((row) => (
            <strong key={row.currency} className="font-semibold">
              <Amount value={row.amount ?? '0'} currency={row.currency} />
            </strong>
          ))}
          <span className="text-ink-soft">
            {priced.length > 0 && 'for '}
            {count(items)} charge {items === 1 ? 'item' : 'items'}
            {asksForItems(eventQuery) && ' that match the filters'}
          </span>
        </>
      )}
      {sum.isError && <span className="text-ink-soft">The total of these events could not be loaded.</span>}
    </section>
  );
}
