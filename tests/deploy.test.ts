import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseCommandLine } from '../packages/service/src/main/command-line.js';
import {
  alertExpressions,
  DEPLOY,
  dashboardExpressions,
  deploymentFiles,
  deploymentText,
  documentsOf,
  type Manifest,
} from './support/deployment-files.js';
import { programPath } from './support/programs.js';

/** The kustomizations are for kubectl alone; all other files are objects of the cluster. */
const MANIFESTS = deploymentFiles(/^kubernetes\/(?!.*kustomization\.yaml$).*\.yaml$/);
const COMPOSE_FILES = deploymentFiles(/^compose\/.*\.yaml$/);

const manifests = () => MANIFESTS.flatMap((path) => documentsOf<Manifest>(deploymentText(path)));

/** @throws Error that names the wrong field */
async function validate(manifest: Manifest): Promise<void> {
  const { apiVersion, kind } = manifest;
  const isOfOperator = apiVersion.startsWith('monitoring.coreos.com/');
  const library = isOfOperator ? '@kubernetes-models/prometheus-operator' : 'kubernetes-models';
  const { [kind]: Model } = await import(`${library}/${apiVersion}/${kind}`);
  new Model(manifest).validate();
}

/** Runs a program; its output is part of the error if it fails. */
function run(program: string, ...args: string[]): string {
  return execFileSync(programPath(program) ?? program, args, {
    cwd: DEPLOY,
    encoding: 'utf8',
    stdio: 'pipe',
  });
}

describe('Kubernetes manifests', () => {
  it.each(MANIFESTS)('%s fits the schemas of Kubernetes', async (path) => {
    for (const manifest of documentsOf<Manifest>(deploymentText(path))) await validate(manifest);
  });

  it('with a wrong field do not fit', async () => {
    const [deployment] = manifests().filter(({ kind }) => kind === 'Deployment');
    if (deployment === undefined) throw new Error('there is no Deployment');
    const wrong = structuredClone(deployment);
    wrong.spec.template.spec.containers[0].readinessProbe.periodSeconds = 'often';
    await expect(validate(wrong)).rejects.toThrow(/periodSeconds/);
  });

  it('select only pods, and scale only roles, that exist', () => {
    const deployments = manifests().filter(({ kind }) => kind === 'Deployment');
    const labels = deployments.map(({ spec }) => JSON.stringify(spec.template.metadata.labels));
    for (const { kind, metadata, spec } of manifests()) {
      if (kind === 'HorizontalPodAutoscaler')
        expect(deployments.map((deployment) => deployment.metadata.name)).toContain(spec.scaleTargetRef.name);
      const selector = kind === 'Service' ? spec.selector : spec?.selector?.matchLabels;
      if (selector === undefined || kind === 'PodMonitor') continue;
      expect(labels, `${kind} ${metadata.name}`).toContain(JSON.stringify(selector));
    }
  });

  it.runIf(programPath('kubectl') !== undefined)(
    'of the example are rendered by kubectl and fit, if it is installed',
    async () => {
      const rendered = ['kubernetes/example', 'kubernetes/example/migrate'].flatMap((folder) =>
        documentsOf<Manifest>(run('kubectl', 'kustomize', folder)),
      );
      for (const manifest of rendered) await validate(manifest);
      const kindsOf = (list: readonly Manifest[]) =>
        list.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
      expect(kindsOf(rendered).sort()).toEqual(kindsOf(manifests()).sort());
      const worker = rendered.find(({ metadata }) => metadata.name === 'tollgate-worker');
      expect(worker?.spec.replicas).toBeUndefined();
    },
  );
});

describe('deployment files', () => {
  it('use only settings that exist', () => {
    const page = readFileSync(join(DEPLOY, '../docs/configuration.md'), 'utf8');
    const known = new Set(page.match(/TOLLGATE_[A-Z_]*[A-Z]/g));
    for (const path of deploymentFiles(/./)) {
      const used = deploymentText(path).match(/TOLLGATE_[A-Z_]*[A-Z]/g) ?? [];
      const unknown = used.filter((name) => !known.has(name));
      expect(unknown, path).toEqual([]);
    }
  });

  it('start commands that exist', () => {
    interface Service {
      readonly image: string;
      readonly command?: readonly string[];
    }
    const services = COMPOSE_FILES.flatMap((path) =>
      documentsOf<{ services: Record<string, Service> }>(deploymentText(path)).flatMap((file) =>
        Object.values(file.services),
      ),
    );
    const ofCompose = services
      .filter(({ image }) => image.startsWith('tollgate'))
      .map(({ command }) => command);
    const pods = manifests().filter(({ kind }) => kind === 'Deployment' || kind === 'Job');
    const ofKubernetes = pods.map(({ spec }) => spec.template.spec.containers[0].args);
    expect(ofCompose).toHaveLength(6);
    expect(ofKubernetes).toHaveLength(4);
    for (const args of [...ofCompose, ...ofKubernetes])
      expect(() => parseCommandLine(args ?? ['serve'])).not.toThrow();
  });

  it.runIf(programPath('haproxy') !== undefined)(
    'have a configuration that HAProxy accepts, if it is installed',
    () => {
      run('haproxy', '-c', '-f', 'compose/haproxy.cfg');
    },
  );
});

describe('expressions for Prometheus', () => {
  it('in a PrometheusRule fit the schema of the operator', async () => {
    const [spec] = documentsOf(deploymentText('prometheus/alerts.yaml'));
    const metadata = { name: 'tollgate' };
    await validate({ apiVersion: 'monitoring.coreos.com/v1', kind: 'PrometheusRule', metadata, spec });
  });

  it.runIf(programPath('promtool') !== undefined)(
    'raise the alerts that their tests expect, if promtool is installed',
    () => {
      run('promtool', 'check', 'rules', 'prometheus/alerts.yaml');
      run('promtool', 'test', 'rules', 'prometheus/alerts.test.yaml');
    },
  );

  it.runIf(programPath('promtool') !== undefined)(
    'of the dashboard are valid, if promtool is installed',
    () => {
      const folder = mkdtempSync(join(tmpdir(), 'tollgate-rules-'));
      try {
        const rules = dashboardExpressions().map((expr, index) => ({ record: `panel:${index}`, expr }));
        const file = join(folder, 'rules.yaml');
        // Every JSON text is YAML.
        writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
        run('promtool', 'check', 'rules', file);
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  );

  it('of an alert are part of a rule, and each rule says what to do', () => {
    const text = deploymentText('prometheus/alerts.yaml');
    const count = (pattern: RegExp) => text.match(pattern)?.length;
    const alerts = alertExpressions().length;
    expect([count(/- alert:/g), count(/summary: ./g), count(/description: >-/g)]).toEqual([
      alerts,
      alerts,
      alerts,
    ]);
  });
});
