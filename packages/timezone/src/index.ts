/**
 * Offsets and local days of IANA timezones, from the tables that `Intl` carries. Times are Unix seconds. Wall time is
 * counted in the same way: seconds from 1970-01-01T00:00 as the local clock shows it.
 */

export const DAY_S = 86_400;

/** A range of time with one offset; `untilS` is exclusive. */
interface Segment {
  readonly fromS: number;
  readonly untilS: number;
  /** Local time minus UTC. */
  readonly offsetS: number;
}

/** Offsets are looked up in chunks of 388 days, from 1902 to 2242: a zone never has more chunks than these. */
const CHUNK_S = 2 ** 25;
const CHUNK_MIN = -64;
const CHUNK_MAX = 255;
/** No zone has had two changes within a week since 1970; changes further apart are found between two probes. */
const PROBE_S = 7 * DAY_S;
const NAME_CHARS_MAX = 64;

const AREAS = new Set(
  'Africa America Antarctica Arctic Asia Atlantic Australia Brazil Canada Chile Etc Europe Indian Mexico Pacific US'.split(
    ' ',
  ),
);
/** IANA has only these names without an area. ICU also accepts abbreviations such as IST, which mean several places. */
const PLAIN_NAMES = new Set(
  (
    'CET CST6CDT Cuba EET EST EST5EDT Egypt Eire GB GB-Eire GMT GMT+0 GMT-0 GMT0 Greenwich HST Hongkong Iceland ' +
    'Iran Israel Jamaica Japan Kwajalein Libya MET MST MST7MDT NZ NZ-CHAT Navajo PRC PST8PDT Poland Portugal ROC ' +
    'ROK Singapore Turkey UCT UTC Universal W-SU WET Zulu'
  ).split(' '),
);
/** How IANA writes a place: `ACT`, `GMT+5`, `McMurdo`, `Port-au-Prince`. Intl itself accepts names in any case. */
const PLACE_PATTERN = /^(?:[A-Z]{1,3}[0-9+-]*|(?:[A-Z]?[A-Z][a-z]+)+(?:[_-](?:[A-Z][A-Za-z]*|of|es|au))*)$/;

/** Whether local times can be computed at an instant or a wall time, with a margin of a few days; false for NaN. */
export function isInCalendar(timeS: number): boolean {
  return timeS >= CHUNK_MIN * CHUNK_S + PROBE_S && timeS < (CHUNK_MAX + 1) * CHUNK_S - PROBE_S;
}

/** Whether this is the name of an IANA timezone in its official spelling; offsets and `Local` are not. */
export function isTimezone(name: string): boolean {
  if (zones.has(name)) return true;
  if (name.length > NAME_CHARS_MAX) return false;
  if (!PLAIN_NAMES.has(name)) {
    const [area = '', ...places] = name.split('/');
    if (!AREAS.has(area) || places.length === 0) return false;
    if (!places.every((place) => PLACE_PATTERN.test(place))) return false;
  }
  try {
    const canonical = new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone;
    return canonical === name || canonical.toLowerCase() !== name.toLowerCase();
  } catch {
    return false;
  }
}

/** Zones by name; bounded by the number of timezones. */
const zones = new Map<string, Zone>();

/**
 * Returns the zone of that name, which caches the offsets it has looked up.
 * @throws RangeError unless {@link isTimezone}
 */
export function zoneOf(name: string): Zone {
  let zone = zones.get(name);
  if (zone === undefined) {
    if (!isTimezone(name)) throw new RangeError('not an IANA timezone');
    zone = new Zone(name);
    zones.set(name, zone);
  }
  return zone;
}

export class Zone {
  readonly #format: Intl.DateTimeFormat;
  readonly #chunks = new Map<number, readonly Segment[]>();
  #recent: Segment = { fromS: 0, untilS: 0, offsetS: 0 };

  constructor(name: string) {
    this.#format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
  }

  /** Returns the time that the local clock shows at an instant. */
  wallTime(atS: number): number {
    return atS + this.#segmentAt(atS).offsetS;
  }

  /**
   * Returns the first instant at which the local clock shows `wallS` or more. When the clock is set forward over that
   * time, this is the change itself; when it is set back and shows the time twice, the first occurrence. Rises with
   * `wallS`.
   */
  instantOf(wallS: number): number {
    // No offset is as long as a day: this instant is earlier than any that can show the time.
    let segment = this.#segmentAt(wallS - DAY_S);
    for (;;) {
      const instant = Math.max(segment.fromS, wallS - segment.offsetS);
      if (instant < segment.untilS) return instant;
      segment = this.#segmentAt(segment.untilS);
    }
  }

  /**
   * Returns the step of the local clock that contains the instant: an hour, or a minute. A change by whole hours leaves
   * every hour as long as it is; a change by half an hour ends one hour early and starts the next.
   *
   * @param sizeS a divisor of a day
   */
  clockStepAt(atS: number, sizeS: number): { readonly startS: number; readonly endS: number } {
    const { fromS, untilS, offsetS } = this.#segmentAt(atS);
    const startS = Math.floor((atS + offsetS) / sizeS) * sizeS - offsetS;
    const isCutAtStart = startS < fromS && mod(this.#segmentAt(fromS - 1).offsetS - offsetS, sizeS) !== 0;
    const endS = startS + sizeS;
    const isCutAtEnd = endS > untilS && mod(this.#segmentAt(untilS).offsetS - offsetS, sizeS) !== 0;
    return { startS: isCutAtStart ? fromS : startS, endS: isCutAtEnd ? untilS : endS };
  }

  /**
   * Returns the instant at which the local clock shows `wallS`: the first one where it shows the time twice. Where the
   * clock skips the time, the instant lies as long after the change as `wallS` lies after the start of the gap, as in
   * RFC 5545 and java.time.
   */
  instantShowing(wallS: number): number {
    const instant = this.instantOf(wallS);
    return this.wallTime(instant) === wallS ? instant : wallS - this.#segmentAt(instant - 1).offsetS;
  }

  /**
   * Returns the start of the local day that contains the instant: midnight, or the first instant of a day without a
   * midnight. When the clock is set back over midnight, the new day continues, so days never overlap.
   */
  dayStart(atS: number): number {
    const segment = this.#segmentAt(atS);
    const midnightS = Math.floor((atS + segment.offsetS) / DAY_S) * DAY_S;
    const startS = midnightS - segment.offsetS;
    if (startS - DAY_S >= segment.fromS) return startS;
    return this.periodStart(atS, DAY_S, 0);
  }

  /** Returns the start of the local day after the one that contains the instant. */
  nextDayStart(atS: number): number {
    return this.nextPeriodStart(atS, DAY_S, 0);
  }

  /** Returns the latest {@link instantOf} `anchorS + k × sizeS`, for whole k, that is not after the instant. */
  periodStart(atS: number, sizeS: number, anchorS: number): number {
    let index = Math.floor((this.wallTime(atS) - anchorS) / sizeS);
    while (this.instantOf(anchorS + (index + 1) * sizeS) <= atS) index++;
    for (;;) {
      const startS = this.instantOf(anchorS + index * sizeS);
      if (startS <= atS) return startS;
      index--;
    }
  }

  /** Returns the earliest {@link instantOf} `anchorS + k × sizeS`, for whole k, that is after the instant. */
  nextPeriodStart(atS: number, sizeS: number, anchorS: number): number {
    let index = Math.floor((this.wallTime(atS) - anchorS) / sizeS);
    while (this.instantOf(anchorS + index * sizeS) > atS) index--;
    for (;;) {
      const startS = this.instantOf(anchorS + index * sizeS);
      if (startS > atS) return startS;
      index++;
    }
  }

  #segmentAt(atS: number): Segment {
    const recent = this.#recent;
    if (atS >= recent.fromS && atS < recent.untilS) return recent;
    const chunk = Math.floor(atS / CHUNK_S);
    if (!(chunk >= CHUNK_MIN && chunk <= CHUNK_MAX)) throw new RangeError(`no calendar at Unix time ${atS}`);
    let segments = this.#chunks.get(chunk);
    if (segments === undefined) {
      segments = this.#findSegments(chunk * CHUNK_S, (chunk + 1) * CHUNK_S);
      this.#chunks.set(chunk, segments);
    }
    this.#recent = segments.find((segment) => atS < segment.untilS) ?? recent;
    return this.#recent;
  }

  #findSegments(chunkFromS: number, chunkUntilS: number): Segment[] {
    const segments: Segment[] = [];
    let fromS = chunkFromS;
    let offsetS = this.#lookUpOffset(fromS);
    let probedS = fromS;
    while (probedS < chunkUntilS) {
      const nextS = Math.min(probedS + PROBE_S, chunkUntilS);
      const nextOffsetS = this.#lookUpOffset(nextS);
      if (nextOffsetS !== offsetS) {
        const changeS = this.#findChange(probedS, nextS, offsetS);
        segments.push({ fromS, untilS: changeS, offsetS });
        fromS = changeS;
        offsetS = nextOffsetS;
      }
      probedS = nextS;
    }
    if (fromS < chunkUntilS) segments.push({ fromS, untilS: chunkUntilS, offsetS });
    return segments;
  }

  /** Returns the first second with another offset, in (beforeS, afterS]. */
  #findChange(beforeS: number, afterS: number, offsetBeforeS: number): number {
    let [lowS, highS] = [beforeS, afterS];
    while (highS - lowS > 1) {
      const middleS = Math.floor((lowS + highS) / 2);
      if (this.#lookUpOffset(middleS) === offsetBeforeS) lowS = middleS;
      else highS = middleS;
    }
    return highS;
  }

  /** Reads what Intl prints at the end of a date: `GMT`, `GMT+05:45`, `GMT-00:44:30`. */
  #lookUpOffset(atS: number): number {
    const text = this.#format.format(atS * 1_000);
    const match = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(text);
    if (match === null) throw new Error(`Intl printed no offset: ${text}`);
    const [, sign, hours = '0', minutes = '0', seconds = '0'] = match;
    const magnitudeS = Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds);
    return sign === '-' ? -magnitudeS : magnitudeS;
  }
}

function mod(value: number, size: number): number {
  return ((value % size) + size) % size;
}
