import { type Static, Type } from 'typebox';
import { closed } from './common.js';

const CounterChanges = Type.Enum(['exact', 'current'], {
  description:
    'What happens to amounts that depend on totals of counters. `exact`: they are posted as planned; if a counter was ' +
    'changed since the plan, the correction ends as `stale`. `current`: they are computed when the correction is applied; ' +
    '`applied` shows what was posted.',
});

export const ApplyCorrectionRequest = Type.Object(
  { counters: Type.Optional({ ...CounterChanges, default: 'exact' }) },
  { ...closed, description: 'How a planned correction is applied.' },
);

export type ApplyCorrectionRequest = Static<typeof ApplyCorrectionRequest>;
