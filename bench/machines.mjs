// The machines made by hand: what each buys, on and off in one run.
//
//     node bench/machines.mjs [rounds=5] [seconds=3] [only=services,json,native,windows,priorities]
//
// A line shows the processor time with a machine on and off, the ratio of both, and the share of an event's whole
// processor time, from request to history, that the machine saves. Rounds alternate and the median counts, so ratios
// hold on a busy machine too; the last line is a response time, and does not. Needs `npm run build` and Linux; without
// root, priorities cannot be raised again, and their line stays empty.
import { availableParallelism, cpus } from 'node:os';
import { measureJsonSelection } from './machines/json-selection.mjs';
import { measureNativeBlocks } from './machines/native-blocks.mjs';
import { USUAL } from './machines/payloads.mjs';
import { measurePriorities } from './machines/priorities.mjs';
import { measureServices } from './machines/services.mjs';
import { measureWindowArrays } from './machines/window-arrays.mjs';
import { readOptions } from './options.mjs';
import { printTable } from './report.mjs';

const options = readOptions({ rounds: 5, seconds: 3, only: 'services,json,native,windows,priorities' });
const { rounds, seconds } = options;
const chosen = new Set(options.only.split(','));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

console.log(`${cpus()[0]?.model}, ${availableParallelism()} cores, Node.js ${process.version}`);
const services = chosen.has('services') ? await measureServices(rounds, seconds) : undefined;
const selection = chosen.has('json') ? await measureJsonSelection(rounds) : {};
const native = chosen.has('native') ? await measureNativeBlocks(rounds) : undefined;
const windows = chosen.has('windows') ? await measureWindowArrays(rounds) : undefined;
const priorities = chosen.has('priorities') ? await measurePriorities(rounds) : undefined;

const whole = services?.endToEnd ?? {};
printTable('An event from request to history, processor time', [
  ...Object.entries(whole).map(([name, perEvent]) => [`in batches, ${name}`, µs(perEvent)]),
  ...(services ? [['alone in its request', µs(services.expressLane.on)]] : []),
]);
printTable('Machines, per event', [
  ['', 'on', 'off', 'off / on', 'saves of the whole'],
  line('express lane: single events', services?.expressLane, services?.expressLane.on),
  ...Object.entries(selection).map(([name, measured]) =>
    line(`JSON selection: ${name}`, measured, whole[name]),
  ),
  line('Native blocks: JSONEachRow', native, whole[USUAL]),
  line('window arrays: a row per window', windows, whole['with limits']),
  line('priorities: median response of a batch', priorities, undefined, ms),
]);
process.exit();

/** @param wholePerEvent what an event takes with the machine on */
function line(name, measured, wholePerEvent, unit = µs) {
  if (measured === undefined) return [name, '–', '–', '–', '–'];
  const { on, off } = measured;
  const saved =
    wholePerEvent === undefined ? '–' : `${((100 * (off - on)) / (wholePerEvent + off - on)).toFixed(1)} %`;
  return [name, unit(on), unit(off), (off / on).toFixed(2), saved];
}

function µs(value) {
  return `${value.toFixed(1)} µs`;
}

function ms(value) {
  return `${value.toFixed(1)} ms`;
}
