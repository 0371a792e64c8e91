export interface Answer {
  readonly status: number;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  readonly body: any;
}

interface CallOptions {
  readonly key?: string;
  readonly body?: unknown;
  readonly idempotencyKey?: string | undefined;
}

/** Sends one request; JSON bodies of responses are parsed. */
export async function call(
  service: { url: string },
  method: string,
  path: string,
  { key, body, idempotencyKey }: CallOptions = {},
): Promise<Answer> {
  const response = await fetch(service.url + path, {
    method,
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') === true;
  return { status: response.status, text, body: isJson ? JSON.parse(text) : undefined };
}

/** The body of a 201 answer. @throws Error with the answer otherwise */
export async function created(
  service: { url: string },
  path: string,
  options: CallOptions,
): Promise<Record<string, unknown>> {
  const answer = await call(service, 'POST', path, options);
  if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`);
  return answer.body;
}
