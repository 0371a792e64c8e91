/**
 * An event, or a counter, is not as a part expects it. The transaction of the part is rolled back, and the correction
 * ends as `stale`.
 */
export class ChangedEventError extends Error {
  override readonly name = 'ChangedEventError';

  constructor(
    readonly code: 'correction_stale' | 'correction_superseded',
    message: string,
  ) {
    super(message);
  }
}

export function counterMoved(problem: string): ChangedEventError {
  return new ChangedEventError('correction_stale', `${problem} Revert the correction, or plan it again.`);
}
