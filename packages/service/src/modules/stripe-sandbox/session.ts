/** A hosted checkout of the sandbox. Times are Unix seconds. */
export interface SandboxSession {
  /** `cs_test_` and enough chance that knowing it is the permission to see and to pay it. */
  readonly id: string;
  readonly status: 'open' | 'complete';
  readonly productName: string;
  readonly amountMinor: number;
  /** In lower case. */
  readonly currency: string;
  readonly successUrl: string;
  readonly cancelUrl: string | null;
  readonly paymentMetadata: Readonly<Record<string, string>>;
  readonly paymentIntentId: string;
  /** How often paying was declined. */
  readonly declined: number;
  readonly expiresAt: number;
  readonly createdAt: number;
}

/** What can be done with it now. */
export function stateOf(
  { status, expiresAt }: SandboxSession,
  nowS: number,
): 'open' | 'complete' | 'expired' {
  return status === 'open' && nowS >= expiresAt ? 'expired' : status;
}

/** Where the buyer goes after paying; Stripe fills its id in, too. */
export function successUrlOf({ id, successUrl }: SandboxSession): string {
  return successUrl.replaceAll('{CHECKOUT_SESSION_ID}', id);
}
