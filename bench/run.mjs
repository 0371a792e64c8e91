// `npm run bench [-- --quick] [--no-floors] [--limits]`: measures the floors of this machine and the real
// service in one run, prints a table and writes bench/results/<time>.json. See README.md beside this file.
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { isBundled } from '../scripts/prepare.mjs';
import { measureFloors } from './floors.mjs';
import { Phases } from './phases.mjs';
import { printReport } from './report.mjs';
import { BenchService } from './service.mjs';

const PROJECTS = 4;
const FULL = { floor: 10, idle: 5, single: 20, burst: 4, sustained: 180, halfLoad: 30, overload: 60 };
const QUICK = { floor: 3, idle: 3, single: 6, burst: 2, sustained: 15, halfLoad: 10, overload: 20 };

const options = new Set(process.argv.slice(2));
const unknown = [...options].filter((option) => !['--quick', '--no-floors', '--limits'].includes(option));
if (unknown.length > 0) throw new Error(`unknown option ${unknown[0]}`);
const seconds = options.has('--quick') ? QUICK : FULL;
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
if (!isBundled()) {
  console.error('The service is not built, or was changed since: run npm ci && npm run build first.');
  process.exit(1);
}

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

const startedAt = new Date().toISOString();
const machine = {
  cpu: cpus()[0]?.model,
  cores: cpus().length,
  memoryBytes: totalmem(),
  node: process.version,
};
const floors = options.has('--no-floors') ? {} : await step('floors', () => measureFloors(seconds.floor));
const service = await measureService();
const result = { startedAt, machine, seconds, floors, service };

mkdirSync(here('results/'), { recursive: true });
const file = here(`results/${startedAt.replaceAll(':', '-')}.json`);
writeFileSync(file, `${JSON.stringify(result, null, 2)}\n`);
printReport(result);
console.log(`\nwritten: ${file}`);
if (!service.verify) process.exitCode = 1;

async function measureService() {
  const running = await step('starting the service', () => BenchService.start());
  try {
    const projects = await running.createProjects(PROJECTS + 1);
    const markerProject = projects.pop();
    if (options.has('--limits')) for (const { id } of projects) await running.limitSubjects(id);
    const phases = new Phases(running, projects, markerProject, randomBytes(4).toString('hex'));
    const idle = await step('idle', () => phases.idle(seconds.idle));
    const single = await step('single events', () => phases.single(seconds.single));
    const burst = await step('batches, a burst', () => phases.burst(seconds.burst));
    const sustained = await step('batches, sustained', () => phases.sustained(seconds.sustained));
    const half = sustained.queryablePerSecond / 2;
    const halfLoad = await step('half load', () => phases.acceptToQueryable(half, seconds.halfLoad));
    const overload = await step('past saturation', () => phases.overload(seconds.overload));
    const verify = await step('verifying', () => running.verify());
    const stop = await step('stopping', () => running.stop());
    return { events: phases.accepted, idle, single, burst, sustained, halfLoad, overload, verify, stop };
  } finally {
    await running.stop();
    running.removeData();
  }
}

async function step(name, measure) {
  const startMs = performance.now();
  process.stdout.write(`${name} … `);
  const measured = await measure();
  console.log(`${((performance.now() - startMs) / 1000).toFixed(1)} s`);
  return measured;
}
