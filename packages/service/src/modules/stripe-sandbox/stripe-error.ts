/** An error in Stripe's form: https://docs.stripe.com/api/errors. */
export class StripeShapedError extends Error {
  override readonly name = 'StripeShapedError';

  constructor(
    readonly status: number,
    readonly type: 'invalid_request_error' | 'idempotency_error',
    message: string,
    readonly about: { readonly code?: string; readonly param?: string } = {},
  ) {
    super(message);
  }

  toBody() {
    return { error: { type: this.type, message: this.message, ...this.about } };
  }
}

/** Returns a 400 about one parameter of the request. */
export function invalidParameter(param: string, message: string, code?: string): StripeShapedError {
  const about = code === undefined ? { param } : { param, code };
  return new StripeShapedError(400, 'invalid_request_error', message, about);
}
