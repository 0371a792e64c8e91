import { EventEmitter } from 'node:events';
import { beforeEach, describe, expect, it } from 'vitest';
import { waitFor } from '../testing/index.js';
import { runUntil } from './serve.js';
import { type SignalSource, StopSignals } from './signals.js';

/** Longer than any test waits. */
const LONG_MS = 600_000;

/** Records the steps of a stop. */
let steps: string[];
let source: EventEmitter & SignalSource;
let fail: (reason: string) => void;

beforeEach(() => {
  steps = [];
  source = Object.assign(new EventEmitter(), { exit: (code: number) => void steps.push(`exit ${code}`) });
});

/** Runs a service without any parts; returns its exit code. */
function run(drainMs: number): Promise<number> {
  const failure = new Promise<string>((resolve) => {
    fail = resolve;
  });
  const service = {
    failure,
    beginDrain: () => void steps.push('drain'),
    stop: async () => void steps.push('stop'),
  };
  const onFailure = (reason: string) => void steps.push(reason);
  return runUntil(service, new StopSignals(source), { drainMs, onFailure });
}

describe('a running service', () => {
  it('drains at SIGTERM, and stops when the time is over', async () => {
    const code = run(1);
    source.emit('SIGTERM');
    expect(await code).toBe(0);
    expect(steps).toEqual(['drain', 'stop']);
  });

  it.each([
    ['SIGINT', LONG_MS],
    ['SIGTERM', 0],
  ])('stops at once at %s with a drain of %i ms', async (signal, drainMs) => {
    const code = run(drainMs);
    source.emit(signal);
    expect(await code).toBe(0);
    expect(steps).toEqual(['stop']);
  });

  it.each(['SIGTERM', 'SIGINT'])(
    'ends a drain at a second signal, %s; a third ends the process',
    async (signal) => {
      const code = run(LONG_MS);
      source.emit('SIGTERM');
      await waitFor(() => steps.includes('drain'));
      source.emit(signal);
      expect(await code).toBe(0);
      source.emit('SIGTERM');
      expect(steps).toEqual(['drain', 'stop', 'exit 1']);
    },
  );

  it('ends a drain when an essential part fails', async () => {
    const code = run(LONG_MS);
    source.emit('SIGTERM');
    await waitFor(() => steps.includes('drain'));
    fail('A part has ended.');
    expect(await code).toBe(1);
    expect(steps).toEqual(['drain', 'A part has ended. The service stops.', 'stop']);
  });

  it('stops without a drain when an essential part fails', async () => {
    const code = run(LONG_MS);
    fail('A part has ended.');
    expect(await code).toBe(1);
    expect(steps).toEqual(['A part has ended. The service stops.', 'stop']);
  });
});
