import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { keepProcess } from '../../packages/service/src/testing/kept-processes.js';
import { sharedScratchFolder } from '../../packages/service/src/testing/scratch-folder.js';
import { newService, RunningService } from './service.js';

const PLACE_FILE = 'place.json';

interface Place {
  readonly dataDir: string;
  readonly port: number;
}

/**
 * The service that all workers share, for test files that only need tenants of their own: to start one, and to compile
 * its code again, takes seconds of processor time. A test that stops the service, changes its settings, reads its
 * output or looks at all tenants starts its own.
 */
export async function sharedService(): Promise<RunningService> {
  const folder = await sharedScratchFolder('shared-service', startIn);
  const { dataDir, port }: Place = JSON.parse(readFileSync(join(folder, PLACE_FILE), 'utf8'));
  return new SharedService(dataDir, port, {});
}

async function startIn(folder: string): Promise<void> {
  const outputFile = join(folder, 'output.log');
  const service = await newService({ outputFile });
  try {
    await service.start();
  } catch (error) {
    await service.stop();
    throw new Error(`The shared service printed:\n${readFileSync(outputFile, 'utf8')}`, { cause: error });
  }
  keepProcess(service.pid);
  service.unref();
  const place: Place = { dataDir: service.dataDir, port: service.port };
  writeFileSync(join(folder, PLACE_FILE), JSON.stringify(place));
}

/** A worker's view of it. */
class SharedService extends RunningService {
  /** Other test files use the service: it runs until all tests have ended. */
  override async stop(): Promise<void> {}
}
