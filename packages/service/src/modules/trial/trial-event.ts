import type { ErrorDetail, TrialEvent, XBilling } from '@tollgate/contract';
import { DomainError, ERROR_DETAILS_MAX } from '../../kernel/errors.js';
import { isUsableText } from '../../kernel/usable-text.js';
import { checkBilling } from '../rules/index.js';

/**
 * Refuses values that ingest refuses in these fields.
 *
 * @param event of a body that was parsed losslessly and is valid by its schema
 * @throws DomainError `subject_pair_incomplete`, `invalid_request`
 */
export function checkTrialEvent(event: TrialEvent): void {
  const { subject_type: type, subject_id: id, 'x-billing': billing } = event;
  if ((type === undefined) !== (id === undefined)) {
    const path = `event.${type === undefined ? 'subject_type' : 'subject_id'}`;
    throw new DomainError('subject_pair_incomplete', {
      details: [{ path, message: 'subject_type and subject_id must be sent together' }],
    });
  }
  const details: ErrorDetail[] = [];
  const report = (path: string, message: string): void => {
    if (details.length < ERROR_DETAILS_MAX) details.push({ path, message });
  };
  if (id !== undefined && !isUsableText(id)) {
    report('event.subject_id', 'text must not contain NUL or a lone surrogate');
  }
  if (billing !== undefined) checkBilling(billing as XBilling, 'event.x-billing', report);
  const first = details[0];
  if (first === undefined) return;
  const message = `The request is not valid: ${first.path}: ${first.message}.`;
  throw new DomainError('invalid_request', { message, details });
}
