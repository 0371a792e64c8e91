import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadAll } from 'js-yaml';

/** The folder of all deployment files. */
export const DEPLOY = fileURLToPath(new URL('../../deploy/', import.meta.url));

/** An object of Kubernetes, as far as tests look into it. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  // biome-ignore lint/suspicious/noExplicitAny: each kind has another form, which its schema describes.
  readonly spec?: any;
}

/** Returns the paths of the deployment files whose names match, relative to their folder. */
export function deploymentFiles(pattern: RegExp): string[] {
  return readdirSync(DEPLOY, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(DEPLOY.length))
    .filter((path) => pattern.test(path))
    .sort();
}

export function deploymentText(path: string): string {
  return readFileSync(join(DEPLOY, path), 'utf8');
}

/** Returns the documents of a YAML file, or of YAML text that a program printed. */
export function documentsOf<T>(yaml: string): T[] {
  return loadAll(yaml) as T[];
}

/** Returns the expressions of the alert rules. */
export function alertExpressions(): string[] {
  interface Rules {
    readonly groups: readonly { readonly rules: readonly { readonly expr: string }[] }[];
  }
  return documentsOf<Rules>(deploymentText('prometheus/alerts.yaml')).flatMap(({ groups }) =>
    groups.flatMap(({ rules }) => rules.map(({ expr }) => expr)),
  );
}

/** Returns the expressions of the dashboard, with values for its variables. */
export function dashboardExpressions(): string[] {
  const { panels } = JSON.parse(deploymentText('grafana/tollgate.json')) as {
    panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[];
  };
  return panels.flatMap(({ targets = [] }) =>
    targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '5m').replaceAll('$job', 'tollgate')),
  );
}

/** Returns the names of the metrics of the service and its processes that an expression reads. */
export function metricsIn(expression: string): string[] {
  const withoutText = expression.replace(/"(?:[^"\\]|\\.)*"/g, '""');
  return withoutText.match(/\b(?:tollgate|process|nodejs)_\w+/g) ?? [];
}

/** Returns the names of all series in the text of `/metrics`, including those that have no value yet. */
export function exportedMetrics(text: string): ReadonlySet<string> {
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
  return new Set(
    types.flatMap(([, name, type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [String(name)],
    ),
  );
}
