import type { CorrectionStatus, CorrectionSummary } from '@tollgate/contract';
import { Badge } from '../../ui/badge.js';

export const ACTION_LABELS: Readonly<Record<CorrectionSummary['action'], string>> = {
  void: 'Void',
  replace: 'Replace',
  rerate: 'Rate again',
};

const TONES: Readonly<Record<CorrectionStatus, 'accent' | 'good' | 'warn' | 'bad' | 'neutral'>> = {
  planning: 'accent',
  planned: 'warn',
  applying: 'accent',
  applied: 'good',
  reverting: 'accent',
  reverted: 'neutral',
  stale: 'bad',
  failed: 'bad',
  expired: 'neutral',
};

export const STATUS_OPTIONS = [
  { value: '', label: 'All statuses' } as const,
  ...(Object.keys(TONES) as CorrectionStatus[]).map((value) => ({ value, label: capitalized(value) })),
];

export function CorrectionBadge({ status }: { readonly status: CorrectionStatus }) {
  return <Badge tone={TONES[status]}>{status}</Badge>;
}

/** The heading of a correction. */
export function correctionTitle({
  action,
  raw_event_id: eventId,
}: Pick<CorrectionSummary, 'action' | 'raw_event_id'>): string {
  if (action === 'replace') return 'Replace an event';
  if (action === 'void') return eventId === null ? 'Void events' : 'Void an event';
  return 'Rate events again';
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
