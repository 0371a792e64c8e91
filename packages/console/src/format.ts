import { DAY_S } from '@tollgate/timezone';

/** Numbers, amounts and times as people read them. */

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
const FRACTION_DIGITS_SHOWN = 12;
const CENTS = 2;

/** A decimal with thousands separators and up to twelve digits of fraction; an ellipsis stands for further digits. */
export function decimal(text: string): string {
  const { digits, isCut } = cut(text, FRACTION_DIGITS_SHOWN);
  return isCut ? `${digits}…` : digits;
}

/** A decimal with thousands separators and all digits. */
export function decimalExact(text: string): string {
  return cut(text, Number.POSITIVE_INFINITY).digits;
}

/** A decimal with two digits of fraction, cut and not rounded. Show the full number in a title. */
export function decimalShort(text: string): string {
  return cut(text, CENTS).digits;
}

/**
 * The significant digits, cut and not rounded: two of the fraction or, below one, the first three that are not zero.
 * Show the full number in a title.
 */
export function decimalSignificant(text: string): string {
  const [, , whole = '', fraction = ''] = DECIMAL.exec(text) ?? [];
  if (!/[1-9]/.test(fraction)) return cut(text, 0).digits;
  const zeros = /^0*$/.test(whole) ? (/^0*/.exec(fraction)?.[0].length ?? 0) : 0;
  const { digits } = cut(text, /^0*$/.test(whole) ? Math.max(zeros + SIGNIFICANT_DIGITS, CENTS) : CENTS);
  const [shown = '', rest = ''] = digits.split('.');
  return `${shown}.${rest.replace(/0+$/, '').padEnd(CENTS, '0')}`;
}

function cut(text: string, fractionDigits: number): { readonly digits: string; readonly isCut: boolean } {
  const [, sign = '', whole, fraction = ''] = DECIMAL.exec(text) ?? [];
  if (whole === undefined) return { digits: text, isCut: false };
  const shown = fraction.slice(0, fractionDigits);
  const thousands = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return {
    digits: `${sign}${thousands}${shown === '' ? '' : `.${shown}`}`,
    isCut: /[1-9]/.test(fraction.slice(fractionDigits)),
  };
}

export function money(text: string, currency: string | null): string {
  return currency === null ? decimal(text) : `${decimal(text)} ${currency}`;
}

/** A price in minor units as people write it: 1900 of USD is $19.00, of JPY ¥1,900. */
export function price(amountMinor: number, currency: string): string {
  const format = new Intl.NumberFormat('en', { style: 'currency', currency });
  const { maximumFractionDigits: digits = CENTS } = format.resolvedOptions();
  return format.format(amountMinor / 10 ** digits);
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

/** The same to the minute: `20 Nov 2026, 14:05`. */
export function dateMinute(unixS: number, timezone: string): string {
  return dateTime(unixS, timezone).replace(/:\d\d$/, '');
}

/** Upper bound of steps that are not months. */
const WEEKS_S_MAX = 27 * DAY_S;

/** Times below an axis: hours if steps are hours, days at the start of a day or if steps are days, else months. */
export function axisTimes(times: readonly number[], stepS: number, timezone: string): string[] {
  const day = new Intl.DateTimeFormat('en-GB', { timeZone: timezone, day: 'numeric', month: 'short' });
  const hour = new Intl.DateTimeFormat('en-GB', { timeZone: timezone, hour: '2-digit', minute: '2-digit' });
  const month = new Intl.DateTimeFormat('en-GB', { timeZone: timezone, month: 'short', year: 'numeric' });
  return times.map((unixS) => {
    const date = new Date(unixS * 1_000);
    if (stepS > WEEKS_S_MAX) return month.format(date);
    const text = hour.format(date);
    return stepS >= DAY_S || text === '00:00' ? day.format(date) : text;
  });
}
