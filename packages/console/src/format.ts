/** What people read: numbers as they are written, never more digits than mean something here. */

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const plain = new Intl.NumberFormat('en', { maximumFractionDigits: 2 });
const SMALL = 1_000;
const SIGNIFICANT_DIGITS = 3;

/** A number on an axis: `1.2K`, `0.004`. */
export function axisNumber(value: number): string {
  if (value === 0) return '0';
  if (Math.abs(value) >= SMALL) return compact.format(value);
  return Math.abs(value) >= 1 ? plain.format(value) : String(Number(value.toPrecision(SIGNIFICANT_DIGITS)));
}

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/;
const FRACTION_DIGITS_SHOWN = 6;

/** An exact decimal with its thousands apart and at most six digits after the point; the whole of it is for a title. */
export function decimal(text: string, fractionDigitsMax = FRACTION_DIGITS_SHOWN): string {
  const [, sign, whole, fraction = ''] = DECIMAL.exec(text) ?? [];
  if (whole === undefined) return text;
  const shown = fraction.slice(0, fractionDigitsMax);
  const isCut = /[1-9]/.test(fraction.slice(fractionDigitsMax));
  const digits = `${sign ?? ''}${whole.replace(/\B(?=(\d{3})+$)/g, ',')}`;
  return `${digits}${shown === '' ? '' : `.${shown}`}${isCut ? '…' : ''}`;
}

export function money(text: string, currency: string | null): string {
  return currency === null ? decimal(text) : `${decimal(text)} ${currency}`;
}

export function count(value: number): string {
  return value.toLocaleString('en');
}

/** A moment in the given timezone: `20 Nov 2026, 14:05:09`. */
export function dateTime(unixS: number, timezone: string): string {
  return new Date(unixS * 1_000).toLocaleString('en-GB', {
    timeZone: timezone,
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
}
