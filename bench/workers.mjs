// Compares a service with one worker and a service with several, in turn. It shows the gain of more rating threads and
// accepting processes on this machine, or their cost if it has no more cores.
//
//     node bench/workers.mjs [workers=2] [rounds=3] [seconds=6] [projects=4] [limits=0]
//
// Each round sends single events, and then batches as fast as the pipeline can process them, to one service after the
// other; every other round begins with the second service. At the end, both services are verified. Needs a build.
import { availableParallelism, cpus } from 'node:os';
import { median } from './machines/measure.mjs';
import { readOptions } from './options.mjs';
import { Phases } from './phases.mjs';
import { printTable } from './report.mjs';
import { BenchService } from './service.mjs';

const { workers, rounds, seconds, projects, limits } = readOptions({
  workers: 2,
  rounds: 3,
  seconds: 6,
  projects: 4,
  limits: 0,
});
const services = [];
try {
  for (const count of [1, workers]) services.push(await start(count));
  for (let round = 0; round < rounds; round += 1) {
    for (const each of round % 2 === 0 ? services : services.toReversed()) await measure(each);
  }
  console.log(`${cpus()[0]?.model}, ${availableParallelism()} cores, Node.js ${process.version}`);
  const names = Object.keys(services[0].measured);
  printTable('Medians of the rounds (all rounds)', [
    ['', ...services.map(({ count }) => `workers=${count}`)],
    ...names.map((name) => [name, ...services.map(({ measured }) => shown(measured[name]))]),
  ]);
  for (const { count, service } of services) {
    await service.stop();
    console.log(`workers=${count}: the stores are ${(await service.verify()) ? 'equal' : 'NOT EQUAL'}`);
  }
} finally {
  for (const { service } of services) {
    await service.stop();
    service.removeData();
  }
}

async function start(count) {
  const service = await BenchService.start({ settings: { TOLLGATE_WORKERS: String(count) } });
  const own = await service.createProjects(projects);
  if (limits > 0) for (const { id } of own) await service.limitSubjects(id);
  const phases = new Phases(service, own, own[0], `workers-${count}`);
  return { count, service, phases, measured: {} };
}

async function measure({ phases, measured }) {
  const single = await phases.single(seconds);
  const sustained = await phases.sustained(seconds);
  add(measured, 'single events accepted/s', single.acceptedPerSecond);
  add(measured, 'events rated/s, sustained', sustained.ratedPerSecond);
  add(measured, 'events/s from request to history', sustained.endToEndPerSecond);
}

function add(measured, name, value) {
  measured[name] = [...(measured[name] ?? []), value];
}

function shown(values) {
  const text = (value) => Math.round(value).toLocaleString('en');
  const sorted = values.toSorted((a, b) => a - b);
  return `${text(median(values))} (${sorted.map(text).join(' ')})`;
}
