/** A hosted checkout of the sandbox. Times are Unix seconds. */
export interface SandboxSession {
  /** `cs_test_` and random characters: knowing the id is the permission to see and to pay the session. */
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
  /** Number of declined payments. */
  readonly declined: number;
  readonly expiresAt: number;
  readonly createdAt: number;
}

/** Returns the state of the session now. */
export function stateOf(
  { status, expiresAt }: SandboxSession,
  nowS: number,
): 'open' | 'complete' | 'expired' {
  return status === 'open' && nowS >= expiresAt ? 'expired' : status;
}

/** Returns where the buyer goes after paying, with the session's id filled in as Stripe does. */
export function successUrlOf({ id, successUrl }: SandboxSession): string {
  return successUrl.replaceAll('{CHECKOUT_SESSION_ID}', id);
}
