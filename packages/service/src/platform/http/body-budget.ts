import type { preParsingHookHandler } from 'fastify';
import { DomainError } from '../../kernel/errors.js';

/**
 * Upper bound of the bytes of all bodies that are being received or processed. Parsed bodies take a multiple of it.
 * Without the bound, a hundred slow clients with large bodies could exhaust the memory.
 */
export const BODIES_BYTES_MAX = 256 * 1_048_576;

const RETRY_AFTER_S = 1;

/** Refuses the bodies that would exceed the bound, whichever requests they belong to. */
export class BodyBudget {
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Counts bytes that arrived; returns whether there was room for them. They count until they are released. */
  add(bytes: number): boolean {
    this.#bytes += bytes;
    return this.#bytes <= this.#bytesMax;
  }

  release(bytes: number): void {
    this.#bytes -= bytes;
  }

  /** Counts the bytes that arrive, not the announced length: a client that sends nothing takes nothing. */
  readonly hook: preParsingHookHandler = (_request, reply, payload, done) => {
    let bytes = 0;
    const count = (chunk: Buffer) => {
      bytes += chunk.length;
      if (this.add(chunk.length)) return;
      payload.off('data', count);
      // The reader of the body gets this error; without a reader it has no effect.
      payload
        .once('error', () => {})
        .emit('error', new DomainError('server_busy', { retryAfterS: RETRY_AFTER_S }));
    };
    payload.on('data', count);
    // Bytes that arrive after the response (for example of a body that was too large) are discarded: nothing would
    // release them.
    reply.raw.once('close', () => {
      payload.off('data', count);
      this.release(bytes);
    });
    done(null, payload);
  };
}
