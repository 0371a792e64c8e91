// Child processes of a benchmark run, and what they use of the machine.
import { fork } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const KIB = 1_024;
/** Kernel clock ticks per second; 100 on every Linux that Node supports. */
const TICKS_PER_SECOND = 100;

/** Starts a script of this folder and returns its first message. */
export async function startFloor(script, plan) {
  const child = fork(fileURLToPath(new URL(script, import.meta.url)), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  child.send(plan ?? {});
  return { child, ready: await message(child, script, (sent) => sent) };
}

export async function stopFloor(child) {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await ended;
}

/** Runs the load generator. `onProgress` may give it orders, {pause} and {stop}, through its second argument. */
export async function generateLoad(plan, onProgress = () => {}) {
  const child = fork(fileURLToPath(new URL('load.mjs', import.meta.url)), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  // An order may come when the generator is about to end: it is of no use then, and no error.
  const generator = { order: (message) => child.send(message, () => {}) };
  let isComplaintShown = false;
  child.on('message', (sent) => {
    if (sent.progress) onProgress(sent.progress, generator);
    if (sent.refused && !isComplaintShown) {
      isComplaintShown = true;
      console.error(`  refused: ${sent.refused}`);
    }
  });
  child.send(plan);
  return message(child, 'load.mjs', (sent) => sent.result);
}

/** Runs the generator of requests, `realtime-load.mjs`, with its plan. */
export function generateRequests(plan) {
  const child = fork(fileURLToPath(new URL('realtime-load.mjs', import.meta.url)));
  const result = message(child, 'realtime-load.mjs', (sent) => sent.result);
  child.send(plan);
  return result;
}

function message(child, name, pick) {
  return new Promise((resolve, reject) => {
    child.on('message', (sent) => {
      const picked = pick(sent);
      if (picked !== undefined) resolve(picked);
    });
    child.once('exit', (code, signal) => reject(new Error(`${name} ended early (${signal ?? code})`)));
  });
}

/**
 * Memory and CPU time of a process and of all below it, from /proc; undefined elsewhere than on Linux. PostgreSQL's
 * processes share memory: `pss` counts each shared page once in all, where it is asked for.
 */
export function usageOf(pid, { isMemoryCounted = false } = {}) {
  try {
    const service = { rssBytes: statusBytes(pid, 'VmRSS'), cpuSeconds: cpuSeconds(pid) };
    const below = descendantsOf(pid);
    const sum = (measure) => below.reduce((total, child) => total + measure(child), 0);
    const pss = isMemoryCounted && { pssBytes: sum(pssBytes) };
    return { service, postgres: { ...pss, cpuSeconds: sum(cpuSeconds) } };
  } catch {
    return undefined;
  }
}

function statusBytes(pid, field) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0) * KIB;
}

function pssBytes(pid) {
  try {
    return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0) * KIB;
  } catch {
    return 0;
  }
}

function statFields(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** User and system time of the process and of its children that have ended. */
function cpuSeconds(pid) {
  try {
    return secondsOf(statFields(pid), 15);
  } catch {
    return 0;
  }
}

/** Threads of the embedded ClickHouse that merge parts of tables, as it names them. */
const MERGE_THREADS = new Set(['MergeMutate', 'BgSchPool']);

/** CPU time of the threads of the embedded ClickHouse that merge, for all tables and whenever it decides to. */
export function mergeCpuSeconds(pid) {
  let total = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      const name = readFileSync(`/proc/${pid}/task/${thread}/comm`, 'latin1').trim();
      if (MERGE_THREADS.has(name)) total += secondsOf(statFields(`${pid}/task/${thread}`), 13);
    } catch {
      // The thread ended meanwhile.
    }
  }
  return total;
}

/** Sums the fields of user and system time, up to a field: 13 without those of children, 15 with them. */
function secondsOf(fields, end) {
  return fields.slice(11, end).reduce((total, ticks) => total + Number(ticks), 0) / TICKS_PER_SECOND;
}

export function descendantsOf(pid) {
  const childrenOf = new Map();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const parent = Number(statFields(name)[1]);
      childrenOf.set(parent, [...(childrenOf.get(parent) ?? []), Number(name)]);
    } catch {
      // The process ended meanwhile.
    }
  }
  const found = [...(childrenOf.get(pid) ?? [])];
  for (const child of found) found.push(...(childrenOf.get(child) ?? []));
  return found;
}
