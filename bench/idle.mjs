// Processor time of the service at rest, by thread and by process of PostgreSQL. `restSeconds=` pass before the
// `seconds=` that are measured. Linux only.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { descendantsOf } from './processes.mjs';
import { BenchService } from './service.mjs';

const options = Object.fromEntries(process.argv.slice(2).map((argument) => argument.split('=')));
const restSeconds = Number(options.restSeconds ?? 60);
const seconds = Number(options.seconds ?? 60);
/** Rows of the result with a smaller share of a core are not printed, only counted. */
const SHOWN_PERCENT = 0.02;
const NANOSECONDS_PER_SECOND = 1e9;

const service = await BenchService.start();
try {
  await delay(restSeconds * 1_000);
  const before = readings(service.pid);
  const beginMs = performance.now();
  await delay(seconds * 1_000);
  const after = readings(service.pid);
  print(before, after, (performance.now() - beginMs) / 1_000);
} finally {
  await service.stop();
  service.removeData();
}

function print(before, after, elapsedSeconds) {
  const shares = new Map();
  for (const [key, { name, ranSeconds }] of after) {
    const percent = (100 * (ranSeconds - (before.get(key)?.ranSeconds ?? 0))) / elapsedSeconds;
    const row = shares.get(name) ?? { percent: 0, count: 0 };
    shares.set(name, { percent: row.percent + percent, count: row.count + 1 });
  }
  const rows = [...shares].sort(([, a], [, b]) => b.percent - a.percent);
  for (const [name, { percent, count }] of rows) {
    if (percent >= SHOWN_PERCENT) console.log(`${percent.toFixed(2).padStart(6)} %  ${name} (${count})`);
  }
  const total = (prefix) =>
    rows.reduce((sum, [name, { percent }]) => (name.startsWith(prefix) ? sum + percent : sum), 0);
  console.log(`${total('node').toFixed(2).padStart(6)} %  all threads of the service`);
  console.log(`${total('postgres').toFixed(2).padStart(6)} %  all processes of PostgreSQL`);
  console.log(
    `${total('').toFixed(2).padStart(6)} %  of one core in all, over ${elapsedSeconds.toFixed(0)} s`,
  );
}

/** The running time of each thread of the service and of all processes below it. */
function readings(pid) {
  const found = new Map();
  for (const process of [pid, ...descendantsOf(pid)]) {
    const program = process === pid ? 'node' : 'postgres';
    for (const thread of readdirSync(`/proc/${process}/task`)) {
      const path = `/proc/${process}/task/${thread}`;
      try {
        // In nanoseconds: a tick of the kernel's other counter is longer than most work at rest takes.
        const [ran] = readFileSync(`${path}/schedstat`, 'latin1').split(' ');
        const role = process === pid ? nameOf(path, thread, pid) : titleOf(process);
        found.set(`${process}/${thread}`, {
          name: `${program}: ${role}`,
          ranSeconds: Number(ran) / NANOSECONDS_PER_SECOND,
        });
      } catch {
        // The thread ended meanwhile.
      }
    }
  }
  return found;
}

function nameOf(path, thread, pid) {
  if (Number(thread) === pid) return 'main thread';
  return readFileSync(`${path}/comm`, 'latin1').trim();
}

function titleOf(pid) {
  return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ').trim().slice(0, 60);
}
