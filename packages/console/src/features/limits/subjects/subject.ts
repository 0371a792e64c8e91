/** Whose usage it is. */
export interface Subject {
  readonly type: string;
  readonly id: string;
}

/** The id of a route that is for every subject of its type without a route of its own. */
export const EVERY = '*';

export function subjectHref(projectId: string, { type, id }: Subject): string {
  return `/p/${projectId}/limits?${new URLSearchParams({ type, id })}`;
}

/** As people read it: `customer/c-42`, `every customer`. */
export function subjectName({ type, id }: Subject): string {
  return id === EVERY ? `every ${type}` : `${type}/${id}`;
}

export function subjectOf(named: { readonly subject_type: string; readonly subject_id: string }): Subject {
  return { type: named.subject_type, id: named.subject_id };
}
