import type { LeaseStatus } from '@tollgate/contract';
import { Badge } from '../../../ui/badge.js';

const TONES = { active: 'accent', closed: 'neutral', expired: 'warn' } as const;

export function LeaseBadge({ status }: { readonly status: LeaseStatus }) {
  return <Badge tone={TONES[status]}>{status}</Badge>;
}
