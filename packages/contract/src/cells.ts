import { type Static, Type } from 'typebox';
import { closed, Nullable } from './common.js';

export const CellInfo = Type.Object(
  {
    name: Nullable(
      Type.String({ description: 'Name of the cell; null for an installation that is not a cell.' }),
    ),
    schema_version: Type.Integer({ description: 'Number of the last applied migration of its PostgreSQL.' }),
    numbers_used: Type.Boolean({
      description:
        'Whether the installation has already numbered projects or limit rules: then it can only be cell number 0.',
    }),
  },
  { ...closed, description: 'The facts that the directory of cells needs about an installation.' },
);

export type CellInfo = Static<typeof CellInfo>;
