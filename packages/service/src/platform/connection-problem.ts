/** The meaning of codes of the operating system for somebody who has configured a server. */
const PROBLEMS: Readonly<Record<string, string>> = {
  EAI_AGAIN: 'the name of the host cannot be resolved now',
  ECONNREFUSED: 'the server refuses connections',
  ECONNRESET: 'the server has closed the connection',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network of the host cannot be reached',
  ENOTFOUND: 'the host is not known',
  ETIMEDOUT: 'the server does not respond',
};

/**
 * Returns why a connection to a configured server has failed, as the end of a sentence for the operator.
 *
 * @param meanings words for other codes; without any, the text is the message of the error
 */
export function connectionProblem(error: unknown, meanings: Readonly<Record<string, string>> = {}): string {
  const { code = '', type = '', message } = error as Error & { code?: string; type?: string };
  const text = meanings[type] ?? PROBLEMS[code] ?? message.split('\n')[0] ?? '';
  return text.replace(/\.$/, '');
}
