import { type Static, Type } from 'typebox';
import { closed, Nullable, UnixSeconds } from './common.js';

/** Lost objects, or losses, that are listed in one report; the rest is only counted. */
export const LOSSES_LISTED_MAX = 1_000;
export const LOSS_REASON_CHARS_MAX = 500;

/** The objects that can be lost. */
export const LOSS_KINDS = ['received', 'rated', 'archived'] as const;
export type LossKind = (typeof LOSS_KINDS)[number];

export const LossKindSchema = Type.Unsafe<LossKind>({
  type: 'string',
  enum: [...LOSS_KINDS],
  description:
    '`received`: events that were accepted and are not rated. `rated`: rows of charged events that are not in the ' +
    'history yet. `archived`: rows of the archive, from which the history is made again.',
});

export const LossBody = Type.Object(
  {
    give_up: Type.Optional(
      Type.Boolean({ description: 'Whether to give up all lost objects. By default they are only listed.' }),
    ),
    reason: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: LOSS_REASON_CHARS_MAX,
        pattern: '\\S',
        description: 'Required with `give_up`; for the audit log.',
      }),
    ),
  },
  { ...closed, description: 'Whether to list lost objects or to give them up.' },
);

export const LossOfProject = Type.Object(
  {
    tenant_id: Type.String(),
    project_id: Type.String(),
    event_count: Nullable(
      Type.Integer({ description: 'Null if only the number of the whole object is known.' }),
    ),
    first_day: Nullable(Type.String({ description: 'UTC day of `occurred_at`, or an earlier one.' })),
    last_day: Nullable(Type.String({ description: 'UTC day of `occurred_at`, or a later one.' })),
  },
  { ...closed, description: 'The part of a project in a lost object. Days are null if they are not known.' },
);

export const LostObject = Type.Object(
  {
    kind: LossKindSchema,
    number: Type.Integer({ description: 'Number of the segment, the batch or the block.' }),
    object_key: Type.String({
      description:
        'The object; `unreadable_segments/…` for a segment that was set aside because it is damaged.',
    }),
    problem: Type.String({ description: 'Why the object cannot be used.' }),
    event_count: Type.Integer({ description: 'Events, or rows of events, of all projects.' }),
    received_at: Nullable(UnixSeconds),
    projects: Type.Array(LossOfProject),
  },
  { ...closed, description: 'An object to which a row refers, and that is missing or damaged.' },
);

export const LossReport = Type.Object(
  {
    object_count: Type.Integer(),
    event_count: Type.Integer({ description: 'Events, or rows of events, of all lost objects.' }),
    given_up: Type.Boolean({ description: 'Whether the lost objects were given up.' }),
    objects: Type.Array(LostObject, { description: `Up to ${LOSSES_LISTED_MAX} of them.` }),
  },
  { ...closed, description: 'The lost objects.' },
);

export const UsageLoss = Type.Object(
  {
    ...{ tenant_id: Type.String(), project_id: Type.String(), kind: LossKindSchema },
    object_key: Type.String(),
    event_count: Type.Integer({
      description: 'Received events of the project; otherwise the rows of the object, of all projects.',
    }),
    first_day: Nullable(Type.String()),
    last_day: Nullable(Type.String()),
    given_up_at: UnixSeconds,
    reason: Type.String(),
  },
  { ...closed, description: 'Events of a project that the operator has given up.' },
);

export const LossRecount = Type.Object(
  {
    loss_count: Type.Integer({ description: 'Losses that were given up; one for each object and project.' }),
    days: Type.Integer({
      description: 'Project days whose history lacks rows that were given up, and no others.',
    }),
    losses: Type.Array(UsageLoss, { description: `Up to ${LOSSES_LISTED_MAX} of them, newest first.` }),
  },
  { ...closed, description: 'Known losses. They are not differences.' },
);

export type LossBody = Static<typeof LossBody>;
export type LossRecount = Static<typeof LossRecount>;
export type LossReport = Static<typeof LossReport>;
export type LostObject = Static<typeof LostObject>;
export type UsageLoss = Static<typeof UsageLoss>;
