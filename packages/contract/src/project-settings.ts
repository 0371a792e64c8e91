import { type Static, Type } from 'typebox';
import { closed } from './common.js';

/** Whether checks and leases of subjects without a route are allowed. */
export const UNKNOWN_SUBJECTS = ['allow', 'deny'] as const;
export type UnknownSubjects = (typeof UNKNOWN_SUBJECTS)[number];

const UnknownSubjectsSchema = Type.Unsafe<UnknownSubjects>({
  type: 'string',
  enum: [...UNKNOWN_SUBJECTS],
  description:
    'What happens to checks and leases of a subject without a route: `allow` (default) allows them, because no limit ' +
    'applies; `deny` refuses them. Events are accepted in both cases.',
});

export const ProjectSettings = Type.Object(
  { unknown_subjects: UnknownSubjectsSchema },
  { ...closed, description: 'The settings of a project.' },
);

export const UpdateProjectSettingsBody = Type.Object(
  { unknown_subjects: Type.Optional(UnknownSubjectsSchema) },
  { ...closed, description: 'Fields that are left out keep their values.' },
);

export type ProjectSettings = Static<typeof ProjectSettings>;
export type UpdateProjectSettingsBody = Static<typeof UpdateProjectSettingsBody>;
