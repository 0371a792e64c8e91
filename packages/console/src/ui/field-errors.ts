import { ApiFailure } from '../api/client.js';

/** What a refused request said, by the fields of its form. */
export interface FieldErrors {
  /** What is wrong at a place of the request. */
  at(path: string): string | undefined;
  /** What belongs to no field, to be told above the buttons; undefined when all of it does. */
  readonly rest: unknown;
}

/**
 * Leads what the service found to the fields where it was found. What it says of a part of a field,
 * `notify_at[1]`, stands at the field.
 *
 * @param fields the places that the form shows
 */
export function fieldErrorsOf(error: unknown, fields: readonly string[]): FieldErrors {
  if (!(error instanceof ApiFailure)) return { at: () => undefined, rest: error ?? undefined };
  const placed = error.details.map((detail) => ({ ...detail, field: fieldOf(detail.path, fields) }));
  const strays = placed.filter(({ field }) => field === undefined);
  const isAllPlaced = placed.length > 0 && strays.length === 0;
  return {
    at: (path) => placed.find(({ field }) => field === path)?.message,
    rest: isAllPlaced ? undefined : new ApiFailure(error.status, error.code, error.message, strays),
  };
}

function fieldOf(path: string, fields: readonly string[]): string | undefined {
  return fields.find(
    (field) => path === field || path.startsWith(`${field}[`) || path.startsWith(`${field}.`),
  );
}
