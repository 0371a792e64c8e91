import { useMay } from '../../../api/session.js';
import { useMetrics, valuesOf } from '../../boards/metrics.js';

export const METRICS_LIST = 'limit-metrics';
export const DIMENSIONS_LIST = 'limit-dimensions';
const VALUES_LIST = 'limit-values-of-';

/** The ID of the list with the known values of a dimension. */
export function valuesList(dimension: string): string {
  return VALUES_LIST + dimension;
}

/** Lists of known metrics, dimensions and values, which rule fields suggest. Render it once per page. */
export function RuleSuggestions() {
  return useMay('analytics:read') ? <KnownNames /> : null;
}

function KnownNames() {
  const { data: metrics = [] } = useMetrics();
  const dimensions = [
    ...new Set(metrics.flatMap(({ dimensions: used }) => used.map(({ name }) => name))),
  ].sort();
  return (
    <>
      <Names id={METRICS_LIST} names={metrics.map(({ metric }) => metric)} />
      <Names id={DIMENSIONS_LIST} names={dimensions} />
      {dimensions.map((name) => (
        <Names key={name} id={valuesList(name)} names={valuesOf(metrics, name)} />
      ))}
    </>
  );
}

function Names({ id, names }: { readonly id: string; readonly names: readonly string[] }) {
  return (
    <datalist id={id}>
      {names.map((name) => (
        <option key={name} value={name} />
      ))}
    </datalist>
  );
}
