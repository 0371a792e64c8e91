/** The user of something: a type and an ID. */
export interface Subject {
  readonly type: string;
  readonly id: string;
}

/** The subject ID of the default route of a type, for subjects without a route of their own. */
export const EVERY = '*';

export function subjectHref(projectId: string, { type, id }: Subject): string {
  return `/p/${projectId}/limits?${new URLSearchParams({ type, id })}`;
}

/** The display name of a subject: `customer/c-42`, or `every customer` for a default route. */
export function subjectName({ type, id }: Subject): string {
  return id === EVERY ? `every ${type}` : `${type}/${id}`;
}

export function subjectOf(named: { readonly subject_type: string; readonly subject_id: string }): Subject {
  return { type: named.subject_type, id: named.subject_id };
}
