import { useMemo } from 'react';
import { useMay } from '../../api/session.js';
import { useProject } from '../../project.js';
import { between, bucketBounds, type Drawn, selectionOf, selectionOfAll } from './events-address.js';
import type { Series, SeriesSet } from './series.js';

/** Links from the numbers of a chart to the events that they sum; undefined if no filters select exactly these. */
export interface EventLinks {
  /** @param index of the bucket */
  ofBucket(one: Series, index: number): string | undefined;
  /** Link to the events of all buckets. */
  ofRange(one: Series): string | undefined;
  /** Link to the events of all series with the unit of this one. */
  ofAll(one: Series): string | undefined;
}

/** The links of a chart, for keys that may read events. */
export function useEventLinks(
  { query, data, measure }: Omit<Drawn, 'series' | 'data'> & { readonly data: Drawn['data'] | undefined },
  set: SeriesSet | undefined,
): EventLinks | undefined {
  const { id } = useProject();
  const mayRead = useMay('usage:read');
  return useMemo(() => {
    if (!mayRead || data === undefined || set === undefined) return undefined;
    return linksOf(`/p/${id}/usage`, { query, data, measure, series: set.series }, set.times);
  }, [mayRead, id, query, data, measure, set]);
}

function linksOf(path: string, drawn: Drawn, times: readonly number[]): EventLinks {
  const { data } = drawn;
  const selections = new Map<string, URLSearchParams | undefined>();
  const selected = (one: Series) => {
    if (!selections.has(one.key)) selections.set(one.key, selectionOf(drawn, one));
    return selections.get(one.key);
  };
  // A bucket that has left the range since the query is not drawn.
  const range = { from: Math.max(data.from, times[0] ?? data.from), to: data.to };
  const link = (selection: URLSearchParams | undefined, bounds: typeof range) =>
    selection && `${path}?${between(selection, bounds)}`;
  return {
    ofBucket: (one, index) =>
      one.exact[index] === undefined
        ? undefined
        : link(selected(one), bucketBounds(data, times[index] ?? data.from)),
    ofRange: (one) => link(selected(one), range),
    ofAll: (one) => link(selectionOfAll(drawn, one), range),
  };
}
