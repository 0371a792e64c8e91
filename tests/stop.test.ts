import { readdirSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { isRunning } from '../packages/service/src/platform/process-identity.js';
import { waitFor } from '../packages/service/src/testing/wait-for.js';
import { descendantsOf } from './support/process-tree.js';
import { newService, type RunningService, startService } from './support/service.js';

let service: RunningService;
afterEach(() => service?.stop());

/** Starts the service and sends the signal as soon as it has printed `step`. */
async function signalDuringStart(step: string, signal: NodeJS.Signals): Promise<void> {
  service = await newService({ env: { TOLLGATE_LOG_LEVEL: 'info' }, startsEmpty: true });
  const start = service.start();
  const ended = start.then(
    () => expect.unreachable('the service got ready'),
    (error: Error) => expect(error.message).toMatch(/^The service ended \(0\)/),
  );
  await waitFor(() => service.output.includes(step));
  process.kill(service.pid, signal);
  await ended;
}

describe('a signal', () => {
  it.each([
    ['SIGINT', 'starting PostgreSQL'],
    ['SIGTERM', 'opening ClickHouse'],
  ] as const)('%s at "%s" ends the start, and leaves nothing behind', async (signal, step) => {
    await signalDuringStart(step, signal);
    expect(service.output).toContain('Stopped before it was ready.');
    expect(service.output).not.toContain('    at ');
    expect(readdirSync(service.dataDir)).not.toContain('instance.lock');
    await service.start();
    expect(await service.terminate()).toBe(0);
  });

  it('sent twice ends the service at once, and PostgreSQL with it', async () => {
    service = await startService();
    const processes = descendantsOf(service.pid);
    expect(processes.length).toBeGreaterThan(0);
    process.kill(service.pid, 'SIGINT');
    process.kill(service.pid, 'SIGTERM');
    await waitFor(() => service.hasEnded && !processes.some(isRunning));
    await service.start();
  });
});
