import type { PublicationStatus } from '@tollgate/contract';
import { Badge } from '../../../ui/badge.js';

const TONES = { published: 'good', draft: 'warn', archived: 'neutral' } as const;

export function PlanBadge({ status }: { readonly status: PublicationStatus }) {
  return <Badge tone={TONES[status]}>{status}</Badge>;
}
