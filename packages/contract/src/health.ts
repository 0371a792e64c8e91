import { type Static, Type } from 'typebox';
import { closed, mapOf } from './common.js';

export const Health = Type.Object(
  { status: Type.Literal('ok') },
  { ...closed, description: 'The process is alive.' },
);

export const READINESS_PROBLEMS = ['disk_full', 'read_only', 'timeout', 'unavailable'] as const;
/** Why a check failed, as far as everybody may know it. */
export type ReadinessProblem = (typeof READINESS_PROBLEMS)[number];
export const ReadinessProblemSchema = Type.Unsafe<ReadinessProblem>({
  type: 'string',
  enum: [...READINESS_PROBLEMS],
  description: 'Why a check failed.',
});

export const ReadinessReport = Type.Object(
  {
    ready: Type.Boolean({ description: 'Whether the process accepts work.' }),
    checks: mapOf(Type.Union([Type.Literal('ok'), Type.Literal('failed')]), {
      description: 'What was checked, by name.',
    }),
    problems: Type.Optional(
      mapOf(ReadinessProblemSchema, {
        description: 'Why checks failed, by their names. The log has the errors themselves.',
      }),
    ),
  },
  { ...closed, description: 'Whether the process accepts work, and what was checked.' },
);
export type ReadinessReport = Static<typeof ReadinessReport>;
