/** The service cannot start or continue; the message is one sentence for the operator. Exit code 1. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
