import type { Config } from '../config.js';
import type { Logger } from '../platform/log/index.js';
import { openTracing, type Tracing } from '../platform/tracing/index.js';
import { VERSION } from '../platform/version.js';

/**
 * Starts to record traces in this process, if the configuration names a collector.
 *
 * @param role names the process in its traces
 */
export function startTracing(config: Config, role: string, log: Logger): Promise<Tracing | undefined> {
  const endpoint = config.otlpTracesEndpoint ?? config.otlpEndpoint;
  const isOn = endpoint !== undefined && !config.sdkDisabled;
  return openTracing({ isOn, version: VERSION, role, log });
}
