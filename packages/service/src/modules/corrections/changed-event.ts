/**
 * An event, or a counter, is not as a part expects it. The transaction of the part is rolled back, and the correction
 * ends as `stale`.
 */
export class ChangedEventError extends Error {
  override readonly name = 'ChangedEventError';

  constructor(
    readonly code: 'correction_stale' | 'correction_superseded',
    problem: string,
    /** How to continue, where it does not depend on what is in force. */
    readonly advice?: string,
  ) {
    super(problem);
  }
}

export function counterMoved(problem: string): ChangedEventError {
  return new ChangedEventError('correction_stale', problem);
}
