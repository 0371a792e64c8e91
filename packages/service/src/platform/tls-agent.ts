import { Agent, type AgentOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import type { TlsFiles } from './tls-files.js';

type Created = (error: Error | null, stream?: Duplex) => void;

/** Opens HTTPS connections with the current files of a server. */
export class TlsAgent extends Agent {
  readonly #files: TlsFiles;

  constructor(files: TlsFiles, options: AgentOptions) {
    // A resumed session would go on with the certificate of an earlier connection.
    super({ ...options, maxCachedSessions: 0 });
    this.#files = files;
  }

  override createConnection(options: AgentOptions, created: Created): Duplex | null | undefined {
    try {
      return super.createConnection({ ...options, ...this.#files.current() }, created);
    } catch (error) {
      // The agent may open a connection later than its request, where nobody would catch this.
      created(error as Error);
      return undefined;
    }
  }
}
