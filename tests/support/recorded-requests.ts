import type { ProjectClient } from '@tollgate/sdk';

/** A documented operation: what the API description says of a method and a path. */
interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, unknown>>;
}

/** Requests that were sent, and their responses. */
export class RecordedRequests {
  readonly #sent: { method: string; path: string; status: number }[] = [];

  /** A `fetch` that notes what it sends. */
  readonly fetch: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    this.#sent.push({
      method: init?.method ?? 'GET',
      path: new URL(String(input)).pathname,
      status: response.status,
    });
    return response;
  };

  /**
   * Returns the requested operations by id; throws for a request to no operation, or with a response that is not
   * documented.
   */
  async operationsOf(serviceUrl: string): Promise<Set<string>> {
    const document = (await (await fetch(`${serviceUrl}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, Operation>>;
    };
    const operations = Object.entries(document.paths).map(([path, methods]) => ({
      pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
      // When two fit, `/events/reprocess` goes before `/events/{id}`.
      parameters: path.split('{').length,
      methods,
    }));
    operations.sort((a, b) => a.parameters - b.parameters);
    return new Set(
      this.#sent.map(({ method, path, status }) => {
        const fitting = operations.filter(({ pattern }) => pattern.test(path));
        const operation = fitting.map(({ methods }) => methods[method.toLowerCase()]).find(Boolean);
        if (operation === undefined || !(String(status) in operation.responses)) {
          throw new Error(`${method} ${path} → ${status} is not documented`);
        }
        return operation.operationId;
      }),
    );
  }
}

/** Names of the methods of a client, each of which stands for one operation. */
export function methodsOf(client: object): string[] {
  return Object.getOwnPropertyNames(Object.getPrototypeOf(client)).filter((name) => name !== 'constructor');
}

/** The fields of a project that are resources. */
export function resourcesOf(client: ProjectClient): Map<string, object> {
  return new Map(Object.entries(client).filter(([, value]) => typeof value === 'object'));
}

/** How many operations a project stands for; `all…`, texts, CSV and addresses are other ways to ask for one. */
export function operationCount(client: ProjectClient): number {
  const names = [client, ...resourcesOf(client).values()].flatMap(methodsOf);
  return names.filter((name) => !/^all|^until|^with|(Text|Csv|Url)$/.test(name)).length;
}
