import { type Static, Type } from 'typebox';
import { closed } from './common.js';
import { VERIFY_DIFFERENCES_MAX } from './counter-recount.js';

export const IngestDifference = Type.Object(
  {
    tenant_id: Type.String(),
    project_id: Type.String(),
    measure: Type.Unsafe<'processed_count' | 'failed_count' | 'voided_count'>({
      type: 'string',
      enum: ['processed_count', 'failed_count', 'voided_count'],
    }),
    expected: Type.String({ description: 'Sum over the days of the project.' }),
    found: Type.String({ description: 'Count that the ingest status of the project shows.' }),
  },
  { ...closed, description: 'A count of the ingest status that differs from the totals of days.' },
);

export const IngestRecount = Type.Object(
  {
    projects: Type.Integer({ description: 'Projects that were recounted.' }),
    difference_count: Type.Integer(),
    differences: Type.Array(IngestDifference, { description: `Up to ${VERIFY_DIFFERENCES_MAX} of them.` }),
  },
  {
    ...closed,
    description: 'Events by status of each project, compared with the totals of its days on one snapshot.',
  },
);

export type IngestDifference = Static<typeof IngestDifference>;
export type IngestRecount = Static<typeof IngestRecount>;
