import type { CorrectionFilter, CorrectionRequest, CorrectionRules } from '@tollgate/contract';
import { invalidRequest } from '../../kernel/errors.js';
import { isUsableText } from '../../kernel/usable-text.js';
import type { ProjectDb } from '../../platform/postgres/index.js';
import { dimensionConditions } from '../usage/index.js';
import type { Replacement, StoredCorrection } from './correction.js';
import * as store from './correction-store.js';
import { latestRevisions } from './part-store.js';

/** Checks what the schema cannot express. @throws DomainError `invalid_request` naming the field */
export function checkRequest({
  action,
  filter,
  rules,
  backtest_id: backtestId,
  reason,
}: CorrectionRequest): void {
  checkReason(reason);
  if ((filter === undefined) === (backtestId === undefined)) {
    throw invalidRequest('filter', 'exactly one of filter and backtest_id is required');
  }
  if (backtestId !== undefined && rules !== undefined) {
    throw invalidRequest('rules', 'must not be given together with backtest_id, whose rules apply');
  }
  if (action === 'void' && (rules !== undefined || backtestId !== undefined)) {
    throw invalidRequest(rules === undefined ? 'backtest_id' : 'rules', 'must not be given to void events');
  }
  if (filter === undefined) return;
  if (filter.to <= filter.from) throw invalidRequest('filter.to', 'must be after filter.from');
  dimensionConditions(filter.dimensions);
  const extractor = rules?.extractor?.id;
  const named = filter.extractor_rule_set_id;
  if (extractor !== undefined && named !== undefined && named !== extractor) {
    throw invalidRequest('rules.extractor.id', 'must be the rule set of filter.extractor_rule_set_id');
  }
}

/** Events of other extractor rule sets are not rated by a named version. */
export function confined(filter: CorrectionFilter, rules: CorrectionRules | undefined): CorrectionFilter {
  const id = rules?.extractor?.id;
  return id === undefined ? filter : { ...filter, extractor_rule_set_id: id };
}

export function checkReason(reason: string): void {
  if (!isUsableText(reason)) throw invalidRequest('reason', 'must not contain NUL or a lone surrogate');
}

/** Returns the correction that has made an event what is asked for, or is doing so. */
export async function earlierOf(
  db: ProjectDb,
  eventId: string,
  { action, request }: Pick<store.NewCorrection, 'action' | 'request'>,
): Promise<string | undefined> {
  const isSame = (known: StoredCorrection | undefined): known is StoredCorrection =>
    known?.action === action &&
    (action === 'void' || isDeepEqual(known.request.replacement, request.replacement));
  const open = await store.latestOpenOf(db, eventId, action);
  if (isSame(open)) return open.id;
  const inForce = (await latestRevisions(db, [eventId])).get(eventId)?.correctionId;
  const known = inForce ? await store.readCorrection(db, inForce) : undefined;
  return isSame(known) ? known.id : undefined;
}

function isDeepEqual(a: Replacement | null, b: Replacement | null): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
