import { type Static, Type } from 'typebox';
import { closed, Nullable } from './common.js';

export const CellInfo = Type.Object(
  {
    name: Nullable(
      Type.String({ description: 'Name of the cell; null for an installation that is not one of several.' }),
    ),
    schema_version: Type.Integer({ description: 'Number of the last migration of its PostgreSQL.' }),
    numbers_used: Type.Boolean({
      description:
        'Whether it has given projects or limit rules a number: then it can only be cell number 0.',
    }),
  },
  { ...closed, description: 'The installation as one of several cells.' },
);

export type CellInfo = Static<typeof CellInfo>;
