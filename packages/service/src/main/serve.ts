import { type Config, ROLES } from '../config.js';
import { createLog, type Logger } from '../platform/log/index.js';
import { VERSION } from '../platform/version.js';
import { endsWithin } from '../platform/wait.js';
import { yieldHelperThreads } from './priority.js';
import { type Service, startService } from './service.js';
import { aborted, StopSignals } from './signals.js';

/**
 * Supervisors wait ten seconds for a service to stop, and ending the embedded ClickHouse by force takes some of
 * them. Work that is unfinished then is left to the next start, as after a crash: no acknowledged event is
 * lost.
 */
const STOP_MS_MAX = 8_000;

/** The administrator of a tenant can then get the largest plan for nothing. */
const SANDBOX_WARNING =
  'PAYMENTS ARE NOT REAL: TOLLGATE_PAYMENT_PROVIDER is sandbox, so every key with tenant:admin gets any subscription plan without paying. Use it for development and tests only.';

function takesSandboxPayments({ roles, paymentProvider }: Config): boolean {
  return roles.includes('api') && paymentProvider === 'sandbox';
}

/** `tollgate serve`: runs the service until it is stopped. Returns the exit code. */
export async function serve(config: Config): Promise<number> {
  const log = createLog({ level: config.logLevel, role: config.roles.join(',') });
  for (const warning of config.warnings) log.warn(warning);
  const signals = new StopSignals();
  const onProgress = (step: string) => log.info(step);
  const service = await startService(config, { log, onProgress, signal: signals.stopping });
  yieldHelperThreads(log);
  if (process.stdout.isTTY) showBanner(service, config);
  else logReady(service, config, log);
  if (takesSandboxPayments(config)) log.warn(SANDBOX_WARNING);
  // A process without the api role has no requests that a load balancer could send elsewhere.
  const drainMs = config.roles.includes('api') ? config.drainSeconds * 1_000 : 0;
  return runUntil(service, signals, { drainMs, onFailure: (text) => log.error(text) });
}

export interface RunOptions {
  /** How long requests are still served after SIGTERM; 0 for no drain. */
  readonly drainMs: number;
  readonly onFailure: (reason: string) => void;
}

/** Waits for a signal or a failure, then drains and stops in order. Returns the exit code. */
export async function runUntil(
  service: Pick<Service, 'failure' | 'beginDrain' | 'stop'>,
  signals: StopSignals,
  { drainMs, onFailure }: RunOptions,
): Promise<number> {
  let reason = await Promise.race([aborted(signals.stopping), service.failure]);
  if (reason === undefined && signals.isFromSupervisor && drainMs > 0) {
    service.beginDrain();
    reason = await Promise.race([signals.drained(drainMs), service.failure]);
  }
  if (reason !== undefined) onFailure(`${reason} The service stops.`);
  if (!(await endsWithin(service.stop(), STOP_MS_MAX))) {
    onFailure(
      `Stopping took more than ${STOP_MS_MAX / 1_000} s; the next start goes on where this one broke off.`,
    );
  }
  return reason === undefined ? 0 : 1;
}

/** Logs what the banner shows, except the service key, which must not be in a log. */
function logReady({ url, serviceKey, places }: Service, { roles }: Config, log: Logger): void {
  if (serviceKey.source === 'generated') {
    log.warn(`A service key was generated. It is in ${serviceKey.file}.`);
  }
  log.info({ url, roles, stores: Object.fromEntries(places), version: VERSION }, 'Tollgate is ready.');
}

/** Prints the addresses of the service and the places of its stores, for a person at a terminal. */
function showBanner({ url, serviceKey, places }: Service, config: Config): void {
  const isWhole = config.roles.length === ROLES.length;
  const lines = [`Tollgate is ready on ${url}${isWhole ? '' : ` (${config.roles.join(', ')} only)`}`];
  if (config.roles.includes('api'))
    lines.push(`  Console            ${url}/`, `  API documentation  ${url}/docs`);
  if (serviceKey.source === 'generated') {
    lines.push(
      `  Service key        ${serviceKey.text}`,
      `                     shown once, kept in ${serviceKey.file}`,
    );
  }
  for (const [name, place] of places) lines.push(`  ${name.padEnd(18)} ${place}`);
  if (takesSandboxPayments(config)) lines.push('  Payments           SANDBOX: plans cost nothing');
  console.log(lines.join('\n'));
}
