const FRACTION_DIGITS = 18;
const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/;

/** The exact sum of decimals as the service writes them: up to 18 digits after the point, no exponent. */
export function exactSum(texts: Iterable<string>): string {
  let sum = 0n;
  for (const text of texts) sum += scaled(text);
  return unscaled(sum);
}

/** The same decimal with the other sign. */
export function negated(text: string): string {
  return text.startsWith('-') ? text.slice(1) : `-${text}`;
}

/** An amount of money. Unpriced items have no currency. */
interface Priced {
  readonly amount: string;
  readonly currency: string | null;
}

/** The total of charge items in each of their currencies. */
export function totalsOf(items: readonly Priced[]): { currency: string; amount: string }[] {
  const currencies = new Set(items.flatMap(({ currency }) => currency ?? []));
  return [...currencies].map((currency) => ({
    currency,
    amount: exactSum(items.filter((item) => item.currency === currency).map(({ amount }) => amount)),
  }));
}

function scaled(text: string): bigint {
  const [, sign, whole, fraction = ''] = DECIMAL.exec(text) ?? [];
  if (whole === undefined) throw new Error(`not a decimal: ${text}`);
  const value = BigInt(whole + fraction.padEnd(FRACTION_DIGITS, '0'));
  return sign === '-' ? -value : value;
}

/** The decimal of an integer × 10^18. */
export function unscaled(value: bigint): string {
  const digits = (value < 0n ? -value : value).toString().padStart(FRACTION_DIGITS + 1, '0');
  const fraction = digits.slice(-FRACTION_DIGITS).replace(/0+$/, '');
  const whole = digits.slice(0, -FRACTION_DIGITS);
  return `${value < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}
