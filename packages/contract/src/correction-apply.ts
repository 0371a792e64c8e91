import { type Static, Type } from 'typebox';
import { closed } from './common.js';
import { CorrectionReason } from './corrections.js';

const CounterChanges = Type.Enum(['exact', 'current'], {
  description:
    'What happens to amounts that depend on totals of counters. `exact`: they are posted as planned; if a counter was ' +
    'changed since the plan, the correction ends as `stale`. `current`: they are computed when the correction is applied; ' +
    '`applied` shows what was posted.',
});

const changeReason = (done: string) =>
  Type.Optional({
    ...CorrectionReason,
    description: `Why the correction is ${done}; kept in the audit log, beside the reason of the correction.`,
  });

export const ApplyCorrectionRequest = Type.Object(
  { counters: Type.Optional({ ...CounterChanges, default: 'exact' }), reason: changeReason('applied') },
  { ...closed, description: 'How a planned correction is applied, and why.' },
);

export const RevertCorrectionRequest = Type.Object(
  { reason: changeReason('reverted') },
  { ...closed, description: 'Why a correction is reverted.' },
);

export const DeleteCorrectionQuery = Type.Object({ reason: changeReason('deleted') }, closed);

export type ApplyCorrectionRequest = Static<typeof ApplyCorrectionRequest>;
export type RevertCorrectionRequest = Static<typeof RevertCorrectionRequest>;
export type DeleteCorrectionQuery = Static<typeof DeleteCorrectionQuery>;
