// Processor time of the service at rest, by thread and by kind of PostgreSQL process.
//
//     node bench/idle.mjs [rest=60] [seconds=60]
//
// `rest` seconds pass before the `seconds` that are measured. PostgreSQL names a connection by its account and its
// database, so the pools of the service are not told apart. Needs a build, and Linux.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { readOptions } from './options.mjs';
import { descendantsOf } from './processes.mjs';
import { BenchService } from './service.mjs';

const options = readOptions({ rest: 60, seconds: 60 });
/** Rows of the result with a smaller share of a core are not printed, only counted. */
const SHOWN_PERCENT = 0.02;
const NANOSECONDS_PER_SECOND = 1e9;
/** The first process has its whole command line as its title. */
const TITLE_CHARS_MAX = 60;

const service = await BenchService.start();
try {
  await delay(options.rest * 1_000);
  const before = readings(service.pid);
  const beginMs = performance.now();
  await delay(options.seconds * 1_000);
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

/** Returns the name and the running time of each thread of the service and of the PostgreSQL processes below it. */
function readings(pid) {
  const found = new Map();
  const add = (path, name) => {
    // In nanoseconds: a tick of the kernel's other counter is longer than most work at rest takes.
    const [ran] = readFileSync(`${path}/schedstat`, 'latin1').split(' ');
    found.set(path, { name, ranSeconds: Number(ran) / NANOSECONDS_PER_SECOND });
  };
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const path = `/proc/${pid}/task/${thread}`;
    unlessEnded(() => add(path, `node: ${Number(thread) === pid ? 'main thread' : threadName(path)}`));
  }
  for (const child of descendantsOf(pid)) {
    const path = `/proc/${child}`;
    unlessEnded(() => add(path, `postgres: ${processTitle(path)}`));
  }
  return found;
}

/** Threads and processes may end while they are read. */
function unlessEnded(read) {
  try {
    read();
  } catch (error) {
    if (error.code !== 'ENOENT' && error.code !== 'ESRCH') throw error;
  }
}

function threadName(path) {
  return readFileSync(`${path}/comm`, 'latin1').trim();
}

/** Returns what PostgreSQL calls the process, without the state of a connection, which differs from look to look. */
function processTitle(path) {
  const title = readFileSync(`${path}/cmdline`, 'latin1').replaceAll('\0', ' ').trim();
  return title
    .replace(/^postgres: /, '')
    .replace(/ \[local\].*$/, '')
    .slice(0, TITLE_CHARS_MAX);
}
