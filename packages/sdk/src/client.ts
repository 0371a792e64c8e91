import type { Me, ProjectList } from '#contract';
import { ProjectClient } from './project-client.js';
import { type ClientOptions, type PageOptions, path, Transport } from './transport.js';

/** One API key's view of a Tollgate service. Throws ApiError and ConnectionError. */
export class TollgateClient {
  readonly #transport: Transport;

  constructor(options: ClientOptions) {
    this.#transport = new Transport(options);
  }

  /** Returns the tenant and the permissions of the key. */
  me(): Promise<Me> {
    return this.#transport.request('GET', path`/v1/me`);
  }

  /** The projects that the key can see. */
  projects(page: PageOptions = {}): Promise<ProjectList> {
    return this.#transport.request('GET', path`/v1/projects`, { query: { ...page } });
  }

  /** Everything inside one project. Asks nothing of the service yet. */
  project(projectId: string): ProjectClient {
    return new ProjectClient(this.#transport, projectId);
  }
}
