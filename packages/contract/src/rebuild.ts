import { type Static, Type } from 'typebox';
import { closed } from './common.js';

export const RebuildBody = Type.Object(
  {
    incomplete: Type.Optional(
      Type.Boolean({
        description: 'Whether to go on although the archive lacks events, which are lost then.',
      }),
    ),
  },
  { ...closed, description: 'How to make the history again.' },
);

export const RebuildReport = Type.Object(
  {
    blocks: Type.Integer({ description: 'Objects of the archive that were inserted.' }),
    events: Type.Integer({ description: 'Events that were inserted, replaced attempts included.' }),
  },
  { ...closed, description: 'The result of making the whole history again.' },
);

export const RepairReport = Type.Object(
  {
    months: Type.Integer({ description: 'Months that were replaced; 0 if nothing differed.' }),
    events: Type.Integer({ description: 'Events that were inserted into these months.' }),
  },
  { ...closed, description: 'The result of repairing the history.' },
);

export type RebuildReport = Static<typeof RebuildReport>;
export type RebuildBody = Static<typeof RebuildBody>;
export type RepairReport = Static<typeof RepairReport>;
