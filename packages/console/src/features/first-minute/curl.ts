/** What a command to send one event is made of. */
export interface IngestCommand {
  /** Where this page came from: `https://tollgate.example`. */
  readonly origin: string;
  readonly projectId: string;
  readonly ruleSetId: string;
  /** Undefined until there is one: a placeholder stands in its place. */
  readonly key: string | undefined;
  /** Unix seconds. */
  readonly occurredAt: number;
  /** JSON text of what is metered. */
  readonly rawJson: string;
}

export const KEY_PLACEHOLDER = 'YOUR_API_KEY';
const FIRST_SOURCE = 'first-minute';

/**
 * A command that sends the event when it is pasted into a shell of POSIX. It asks for nothing of the shell but single
 * quotes: those of the event are written as JSON escapes, so that no text of it is ever read by the shell.
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
