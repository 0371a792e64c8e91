import type { Config } from '../config.js';
import { createLog } from '../platform/log/index.js';
import { type Service, startService } from './service.js';
import { untilSignal } from './signals.js';

/** `tollgate serve`: runs the service until it is told to stop. Answers the exit code. */
export async function serve(config: Config): Promise<number> {
  const log = createLog({ level: config.logLevel });
  for (const warning of config.warnings) log.warn(warning);
  const stopping = untilSignal();
  const service = await startService(config, { log, onProgress: (step) => log.info(step) });
  announce(service, config);
  return runUntil(service, stopping, (text) => log.error(text));
}

/** Waits for a signal or a failure, then stops in order. Answers the exit code. */
export async function runUntil(
  service: Service,
  stopping: Promise<void>,
  onFailure: (reason: string) => void,
): Promise<number> {
  const reason = await Promise.race([stopping, service.failure]);
  if (reason !== undefined) onFailure(`${reason} The service stops.`);
  await service.stop();
  return reason === undefined ? 0 : 1;
}

function announce({ url, serviceKey, places }: Service, config: Config): void {
  const lines = [`Tollgate is ready${url === undefined ? ` (${config.roles.join(', ')})` : ` on ${url}`}`];
  if (url !== undefined) lines.push(`  API documentation  ${url}/docs`);
  if (serviceKey.source === 'generated') {
    lines.push(
      `  Service key        ${serviceKey.text}`,
      `                     shown once, kept in ${serviceKey.file}`,
    );
  }
  for (const [name, place] of places) lines.push(`  ${name.padEnd(18)} ${place}`);
  console.log(lines.join('\n'));
}
