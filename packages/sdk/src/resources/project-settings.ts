import type { ProjectSettings, UpdateProjectSettingsBody } from '#contract';
import type { CallOptions, PathTransport } from '../path-transport.js';

/** The settings of a project. */
export class ProjectSettingsResource {
  readonly #transport: PathTransport;

  constructor(transport: PathTransport) {
    this.#transport = transport;
  }

  get(options?: CallOptions): Promise<ProjectSettings> {
    return this.#transport.get('/settings', {}, options);
  }

  /** Changes the given fields only. */
  update(change: UpdateProjectSettingsBody, options?: CallOptions): Promise<ProjectSettings> {
    return this.#transport.put('/settings', change, options);
  }
}
