// How smooth a chart of 50,000 points stays while usage comes in, and how soon the console can be used.
//
//     node bench/console.mjs [series=50] [buckets=990] [type=area] [seconds=15]
//
// `series` × `buckets` minutes of usage are brought in, and a browser opens a board with one chart of all of
// it. The pointer moves over the chart: first while nothing comes in, then while every second one event of
// each series does, which the chart gets from the live stream; halfway a minute ends, and the window
// moves on. Prints how long frames took, and how much processor time each task of the page; the aim is
// nothing over 50 ms. Needs a build, and the machine to itself: the service, the browser and its software
// renderer share the cores.
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import sparticuz from '@sparticuz/chromium';
import { chromium } from 'playwright-core';
import { readOptions } from './options.mjs';
import { BenchService } from './service.mjs';

const options = readOptions({ series: 50, buckets: 990, type: 'area', seconds: 15 });
const AIM_MS = 50;
const MINUTE_S = 60;
const TICK_MS = 1_000;
const BATCH_EVENTS = 5_000;
const POINTER_STEP_PX = 7;
const SCREEN = { viewport: { width: 1_400, height: 900 }, locale: 'en-GB' };
const US_PER_MS = 1_000;
const MS_DIGITS = 1;
/** Events so far: each has a key of its own. */
let sent = 0;

const service = await BenchService.start();
const browser = await chromium.launch({
  executablePath: await sparticuz.executablePath(),
  // Not the package's arguments, which run everything in one process: people's browsers have several.
  args: ['--no-sandbox', '--disable-gpu'],
  headless: true,
});
try {
  const [project] = await service.createProjects(1);
  const nowS = Math.floor(Date.now() / 1_000);
  await bringIn(
    project,
    Array.from({ length: options.series * options.buckets }, (_, index) => ({
      model: index % options.series,
      atS: nowS - Math.floor(index / options.series) * MINUTE_S,
    })),
  );
  const board = await createBoard(project);
  const page = await openConsole();
  await page.goto(`${address()}/p/${project.id}/boards`);
  console.log(`the list of boards, from an empty cache: ${await firstUse(page, project)}`);
  const startMs = performance.now();
  await page.goto(`${address()}/p/${project.id}/boards/${board}?last=${(options.buckets - 1) * MINUTE_S}`);
  await page.locator('canvas').waitFor();
  await page.getByRole('status').filter({ hasText: /^Live/ }).waitFor();
  console.log(
    `${options.series} × ${options.buckets} points: drawn and live after ${ms(performance.now() - startMs)}`,
  );
  const quiet = await framesOf(page);
  report('the pointer moves, nothing comes in', quiet);
  await minuteEndIn(options.seconds / 2);
  const before = await total(page);
  const ticking = new AbortController();
  const ticks = tick(project, ticking.signal);
  const live = await framesOf(page);
  ticking.abort();
  console.log(`ticks sent: ${await ticks}; the total went from ${before} to ${await total(page)}`);
  report('the pointer moves, usage comes in', live);
  console.log(
    `frames' p99 with usage coming in, to that without: ${(live.frames.p99 / quiet.frames.p99).toFixed(2)}`,
  );
  if (live.tasks.max > AIM_MS) process.exitCode = 1;
} finally {
  await browser.close();
  await service.stop();
  service.removeData();
}

function address() {
  const { host, port } = service.address;
  return `http://${host}:${port}`;
}

function eventOf({ ruleSetId }, model, atS, tokens) {
  sent += 1;
  return {
    extractor_rule_set_id: ruleSetId,
    idempotency_key: `bench-${sent}`,
    occurred_at: atS,
    raw_json: {
      model: `model-${String(model).padStart(3, '0')}`,
      user: 'user-1',
      usage: { prompt_tokens: 1, completion_tokens: Math.round(tokens) },
    },
  };
}

async function bringIn(project, points) {
  const { id, apiKey } = project;
  for (let first = 0; first < points.length; first += BATCH_EVENTS) {
    const events = points
      .slice(first, first + BATCH_EVENTS)
      .map(({ model, atS }) => eventOf(project, model, atS, 500 + 400 * Math.sin(atS / 9_000 + model)));
    await service.ask('POST', `/v1/projects/${id}/events/batch-ingest`, { source: 'bench', events }, apiKey);
  }
  const since = points.reduce((least, { atS }) => Math.min(least, atS), Number.POSITIVE_INFINITY);
  const query = {
    metrics: ['llm.output_tokens'],
    measures: ['item_count'],
    time_range: { from: since - MINUTE_S, to: Math.floor(Date.now() / 1_000) + MINUTE_S },
    bucket_size: 'none',
  };
  for (;;) {
    const { rows } = await service.ask('POST', `/v1/projects/${id}/analysis/query`, query, apiKey);
    if ((rows[0]?.item_count ?? 0) >= points.length) return;
    await delay(100);
  }
}

async function createBoard({ id }) {
  const boards = `/v1/projects/${id}/analysis/boards`;
  const { report_id: board } = await service.ask('POST', boards, { name: 'Many points' });
  await service.ask('POST', `${boards}/${board}/charts`, {
    board_id: board,
    title: 'Many points',
    chart_type: options.type,
    size: 'full',
    group_by: ['model'],
    measures: ['amount'],
    metrics: ['llm.output_tokens'],
    bucket_size: '1m',
  });
  return board;
}

async function openConsole() {
  const page = await browser.newPage(SCREEN);
  await page.goto(`${address()}/sign-in`);
  await page.getByLabel('API key').fill(service.serviceKey);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(/\/p\//);
  return page;
}

/** Interactive: the page shows what it is for, and its main thread is free. */
async function firstUse(page, { id }) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Network.clearBrowserCache');
  const startMs = performance.now();
  await page.goto(`${address()}/p/${id}/boards`);
  await page.getByRole('link', { name: /Many points/ }).waitFor();
  await page.evaluate(() => new Promise((free) => requestIdleCallback(free)));
  const interactiveMs = performance.now() - startMs;
  const paintMs = await page.evaluate(
    () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN,
  );
  return `first paint ${ms(paintMs)}, interactive ${ms(interactiveMs)}`;
}

/** One event of each series every second until `signal` aborts; returns how many times. */
async function tick(project, signal) {
  let ticks = 0;
  while (!signal.aborted) {
    const startMs = performance.now();
    const atS = Math.floor(Date.now() / 1_000);
    const events = Array.from({ length: options.series }, (_, model) => eventOf(project, model, atS, 20));
    const path = `/v1/projects/${project.id}/events/batch-ingest`;
    await service.ask('POST', path, { source: 'bench', events }, project.apiKey);
    ticks += 1;
    await delay(Math.max(TICK_MS - (performance.now() - startMs), 0));
  }
  return ticks;
}

function total(page) {
  return page.getByText('Total', { exact: true }).locator('xpath=..').textContent();
}

function minuteEndIn(seconds) {
  const untilEndMs = MINUTE_S * 1_000 - (Date.now() % (MINUTE_S * 1_000));
  const waitMs = untilEndMs - seconds * 1_000;
  return delay(waitMs < 0 ? waitMs + MINUTE_S * 1_000 : waitMs);
}

/**
 * Milliseconds of every frame, and of processor time of every task of the page's main thread, while the
 * pointer moves to and fro over the chart. A frame also waits for other programs on the machine; a task's
 * own time does not.
 */
async function framesOf(page) {
  const box = await page.locator('canvas').boundingBox();
  await browser.startTracing(page, { categories: ['toplevel', 'disabled-by-default-devtools.timeline'] });
  await page.evaluate(() => {
    const seen = { frames: [], isOver: false };
    window.seen = seen;
    let lastMs = performance.now();
    const next = (nowMs) => {
      seen.frames.push(nowMs - lastMs);
      lastMs = nowMs;
      if (!seen.isOver) requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  });
  const endMs = performance.now() + options.seconds * 1_000;
  for (let moved = 0; performance.now() < endMs; moved += POINTER_STEP_PX) {
    await page.mouse.move(box.x + 60 + (moved % (box.width - 80)), box.y + 60 + (moved % 90));
  }
  await page.mouse.move(1, 1);
  const frames = await page.evaluate(() => {
    window.seen.isOver = true;
    return window.seen.frames;
  });
  return { frames: spread(frames.slice(1)), tasks: spread(tasksOf(await browser.stopTracing())) };
}

function tasksOf(trace) {
  const { traceEvents } = JSON.parse(trace.toString());
  const main = traceEvents.find(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain');
  return traceEvents
    .filter(
      ({ name, ph, pid, tid }) =>
        name.endsWith('RunTask') && ph === 'X' && pid === main.pid && tid === main.tid,
    )
    .map(({ tdur = 0 }) => tdur / US_PER_MS);
}

function spread(values) {
  const sorted = values.sort((a, b) => a - b);
  const at = (share) => sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)];
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: sorted.at(-1) };
}

function report(what, { frames, tasks }) {
  const line = ({ count, p50, p99, max }) => `${count}, p50 ${ms(p50)}, p99 ${ms(p99)}, longest ${ms(max)}`;
  console.log(`${what}\n  frames: ${line(frames)}\n  tasks, processor time: ${line(tasks)}`);
}

function ms(value) {
  return `${value.toFixed(MS_DIGITS)} ms`;
}
