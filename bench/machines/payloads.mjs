// The events that the machines are measured with: the usual one of 600 bytes, and larger ones of prose or of values.
import { BATCH_EVENTS, EVENT_BYTES } from '../events.mjs';

/** A batch has fewer events where they are large, so that no request is larger than this. */
const REQUEST_BYTES_MAX = 2 * 1_048_576;

const payload = (bytes, filler) => ({
  bytes,
  filler,
  batchEvents: Math.min(BATCH_EVENTS, Math.floor(REQUEST_BYTES_MAX / bytes)),
});

export const USUAL = '600 B';
export const PAYLOADS = {
  [USUAL]: payload(EVENT_BYTES, 'string'),
  '1.5 kB of prose': payload(1_500, 'prose'),
  '1.5 kB of values': payload(1_500, 'values'),
  '16 kB of prose': payload(16_384, 'prose'),
  '16 kB of values': payload(16_384, 'values'),
  '64 kB of prose': payload(65_536, 'prose'),
  '64 kB of values': payload(65_536, 'values'),
};
