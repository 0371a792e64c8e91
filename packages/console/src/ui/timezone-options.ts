import type { Option } from './field.js';

/** Every timezone that the browser knows, UTC first. */
const TIMEZONE_OPTIONS: readonly Option<string>[] = [
  'UTC',
  ...Intl.supportedValuesOf('timeZone').filter((name) => name !== 'UTC'),
].map((zone) => ({ value: zone, label: zone }));

/** All timezones, including the chosen one if the browser does not list it. */
export function timezoneOptions(chosen: string): readonly Option<string>[] {
  const isListed = TIMEZONE_OPTIONS.some(({ value }) => value === chosen);
  return isListed ? TIMEZONE_OPTIONS : [{ value: chosen, label: chosen }, ...TIMEZONE_OPTIONS];
}
