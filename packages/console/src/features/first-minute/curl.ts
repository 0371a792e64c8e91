/** The parts of a command that sends one event. */
export interface IngestCommand {
  /** Origin of this page, such as `https://tollgate.example`. */
  readonly origin: string;
  readonly projectId: string;
  readonly ruleSetId: string;
  /** If undefined, the command has a placeholder. */
  readonly key: string | undefined;
  /** Unix seconds. */
  readonly occurredAt: number;
  /** JSON text of the event. */
  readonly rawJson: string;
}

export const KEY_PLACEHOLDER = 'YOUR_API_KEY';
const FIRST_SOURCE = 'first-minute';

/**
 * A curl command that sends the event from a POSIX shell. It relies only on single quotes. Single quotes in the
 * event are written as JSON escapes, so that the shell never interprets text of the event.
 */
export function curlOf({ origin, projectId, ruleSetId, key, occurredAt, rawJson }: IngestCommand): string {
  const url = `${origin}/v1/projects/${projectId}/extractor-rule-sets/${ruleSetId}/events/ingest`;
  const body = [
    '{',
    `  "source": ${JSON.stringify(FIRST_SOURCE)},`,
    `  "occurred_at": ${occurredAt},`,
    `  "raw_json": ${rawJson.trim().replaceAll('\n', '\n  ')}`,
    '}',
  ].join('\n');
  return [
    `curl -X POST ${url} \\`,
    `  -H 'Authorization: Bearer ${key ?? KEY_PLACEHOLDER}' \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  --data-raw '${body.replaceAll("'", '\\u0027')}'`,
  ].join('\n');
}
