/** Every timezone that the browser knows, UTC first. */
export const TIMEZONE_OPTIONS = [
  'UTC',
  ...Intl.supportedValuesOf('timeZone').filter((name) => name !== 'UTC'),
].map((zone) => ({ value: zone, label: zone }));
