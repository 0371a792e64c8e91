import { DomainError } from '../../kernel/errors.js';
import { type Amount, amountText } from './amount.js';
import type { WalletKey } from './wallet.js';

/**
 * Returns the 409 of a prepaid wallet that has less available than the asked amount.
 *
 * @param path the field of the request that asks for the amount
 */
export function insufficientFunds(
  { accountId, currency }: WalletKey,
  available: Amount,
  asked: Amount,
  path = 'amount',
): DomainError {
  const [availableText, askedText] = [amountText(available), amountText(asked)];
  return new DomainError('insufficient_funds', {
    message: `The prepaid wallet of ${accountId} has ${availableText} ${currency} available, less than the requested ${askedText}.`,
    details: [
      {
        path,
        message: `${availableText} ${currency} available`,
        account_id: accountId,
        currency,
        available_amount: availableText,
        asked_amount: askedText,
      },
    ],
  });
}
