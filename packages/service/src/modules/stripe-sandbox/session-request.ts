import { invalidParameter, StripeShapedError } from './stripe-error.js';

/** Parameters of a form by their full names, e.g. `line_items[0][quantity]`. */
export type Form = ReadonlyMap<string, string>;

/** The fields of a request to open a session. */
export interface SessionInput {
  readonly productName: string;
  readonly amountMinor: number;
  readonly currency: string;
  readonly successUrl: string;
  readonly cancelUrl: string | null;
  /** Copied to the payment, and so into its events. */
  readonly paymentMetadata: Readonly<Record<string, string>>;
  /** Unix seconds. */
  readonly expiresAt: number;
}

const SECONDS_PER_MINUTE = 60;
const LIFETIME_S_MIN = 30 * SECONDS_PER_MINUTE;
const LIFETIME_S_MAX = 24 * 60 * SECONDS_PER_MINUTE;
const AMOUNT_MAX = 99_999_999;
const METADATA = /^(payment_intent_data\[)?metadata\]?\[([^[\]]{1,40})\]$/;
const METADATA_VALUE_CHARS_MAX = 500;

const ITEM = 'line_items[0]';
const NAMES = {
  mode: 'mode',
  quantity: `${ITEM}[quantity]`,
  currency: `${ITEM}[price_data][currency]`,
  amount: `${ITEM}[price_data][unit_amount]`,
  product: `${ITEM}[price_data][product_data][name]`,
  successUrl: 'success_url',
  cancelUrl: 'cancel_url',
  expiresAt: 'expires_at',
  reference: 'client_reference_id',
  adaptive: 'adaptive_pricing[enabled]',
} as const;
const KNOWN: ReadonlySet<string> = new Set(Object.values(NAMES));

/** @throws StripeShapedError for text that is not a form, or names a parameter twice */
export function readForm(bytes: Buffer): Form {
  const form = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(bytes.toString('utf8'))) {
    if (form.has(name)) throw invalidParameter(name, `Received ${name} twice.`);
    form.set(name, value);
  }
  return form;
}

/**
 * Reads the parameters of https://docs.stripe.com/api/checkout/sessions/create that one payment of one product needs.
 * All others are refused, because the sandbox must not accept a request that Stripe would refuse.
 *
 * @throws StripeShapedError
 */
export function readSessionInput(form: Form, nowS: number): SessionInput {
  for (const name of form.keys()) {
    if (!KNOWN.has(name) && !METADATA.test(name)) {
      throw invalidParameter(name, `Received unknown parameter: ${name}`, 'parameter_unknown');
    }
  }
  if (required(form, NAMES.mode) !== 'payment')
    throw invalidParameter('mode', 'Only payments are supported.');
  if (integer(form, NAMES.quantity, 1, 1) !== 1) throw invalidParameter(NAMES.quantity, 'Invalid quantity.');
  return {
    productName: required(form, NAMES.product),
    amountMinor: integer(form, NAMES.amount, 1, AMOUNT_MAX),
    currency: currencyOf(form),
    successUrl: url(form, NAMES.successUrl),
    cancelUrl: form.has(NAMES.cancelUrl) ? url(form, NAMES.cancelUrl) : null,
    paymentMetadata: paymentMetadata(form),
    expiresAt: expiryOf(form, nowS),
  };
}

function required(form: Form, name: string): string {
  const value = form.get(name);
  if (value === undefined || value === '') {
    throw invalidParameter(name, `Missing required param: ${name}.`, 'parameter_missing');
  }
  if (value.includes('\0')) throw invalidParameter(name, `Invalid value for ${name}.`);
  return value;
}

function integer(form: Form, name: string, least: number, most: number): number {
  const text = required(form, name);
  const value = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= least && value <= most)) {
    throw invalidParameter(name, `Invalid integer: ${name} must be from ${least} to ${most}.`);
  }
  return value;
}

function currencyOf(form: Form): string {
  const currency = required(form, NAMES.currency);
  if (!/^[a-z]{3}$/.test(currency)) throw invalidParameter(NAMES.currency, 'Invalid currency.');
  return currency;
}

function url(form: Form, name: string): string {
  const text = required(form, name);
  if (!URL.canParse(text) || !['http:', 'https:'].includes(new URL(text).protocol)) {
    throw invalidParameter(name, 'Not a valid URL', 'url_invalid');
  }
  return text;
}

function expiryOf(form: Form, nowS: number): number {
  if (!form.has(NAMES.expiresAt)) return nowS + LIFETIME_S_MAX;
  const expiresAt = integer(form, NAMES.expiresAt, 0, 1e12);
  if (expiresAt < nowS + LIFETIME_S_MIN || expiresAt > nowS + LIFETIME_S_MAX) {
    throw invalidParameter(
      NAMES.expiresAt,
      'The `expires_at` timestamp must be between 30 minutes and 24 hours after Checkout Session creation.',
    );
  }
  return expiresAt;
}

function paymentMetadata(form: Form): Record<string, string> {
  const metadata: [string, string][] = [];
  for (const [name, value] of form) {
    const [, ofPayment, key = ''] = METADATA.exec(name) ?? [];
    if (ofPayment === undefined) continue;
    if (value.length > METADATA_VALUE_CHARS_MAX || value.includes('\0')) {
      throw new StripeShapedError(
        400,
        'invalid_request_error',
        'Metadata values can have at most 500 characters.',
      );
    }
    metadata.push([key, value]);
  }
  return Object.fromEntries(metadata);
}
