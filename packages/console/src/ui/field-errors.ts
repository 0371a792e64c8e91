import { ApiError } from '@tollgate/sdk/browser';

/** The errors of a rejected request, by field of the form. */
export interface FieldErrors {
  /** The error at a path of the request. */
  at(path: string): string | undefined;
  /** Errors that belong to no field, shown above the buttons; undefined if there are none. */
  readonly rest: unknown;
}

/**
 * Assigns the errors of the service to the fields of a form. An error in a part of a field, such as
 * `notify_at[1]`, is shown at the field.
 *
 * @param fields the paths of the form's fields
 */
export function fieldErrorsOf(error: unknown, fields: readonly string[]): FieldErrors {
  if (!(error instanceof ApiError)) return { at: () => undefined, rest: error ?? undefined };
  const placed = error.details.map((detail) => ({ ...detail, field: fieldOf(detail.path, fields) }));
  const strays = placed.filter(({ field }) => field === undefined);
  const isAllPlaced = placed.length > 0 && strays.length === 0;
  return {
    at: (path) => placed.find(({ field }) => field === path)?.message,
    rest: isAllPlaced ? undefined : withDetails(error, strays),
  };
}

function withDetails(error: ApiError, details: ApiError['details']): ApiError {
  return new ApiError(error.status, error.code, error.message, details, error.requestId, error.retryAfterS);
}

function fieldOf(path: string, fields: readonly string[]): string | undefined {
  return fields.find(
    (field) => path === field || path.startsWith(`${field}[`) || path.startsWith(`${field}.`),
  );
}
