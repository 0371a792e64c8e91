import { type Static, Type } from 'typebox';
import { closed, mapOf } from './common.js';

export const Health = Type.Object(
  { status: Type.Literal('ok') },
  { ...closed, description: 'The process is alive.' },
);

export const READINESS_PROBLEMS = [
  'disk_full',
  'missing_tables',
  'read_only',
  'rebuilding',
  'stores_differ',
  'timeout',
  'unavailable',
] as const;
/** Public reasons of a failed check. */
export type ReadinessProblem = (typeof READINESS_PROBLEMS)[number];
export const ReadinessProblemSchema = Type.Unsafe<ReadinessProblem>({
  type: 'string',
  enum: [...READINESS_PROBLEMS],
  description: 'The reason of a failed check.',
});

export const ReadinessReport = Type.Object(
  {
    ready: Type.Boolean({ description: 'Whether the process accepts work.' }),
    checks: mapOf(Type.Union([Type.Literal('ok'), Type.Literal('failed')]), {
      description: 'Results of the checks, by name.',
    }),
    problems: Type.Optional(
      mapOf(ReadinessProblemSchema, {
        description: 'Reasons of failed checks, by name. The log has the full errors.',
      }),
    ),
  },
  { ...closed, description: 'Whether the process accepts work, with the results of its checks.' },
);
export type ReadinessReport = Static<typeof ReadinessReport>;
