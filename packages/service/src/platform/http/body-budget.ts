import type { FastifyRequest, preParsingHookHandler } from 'fastify';
import { DomainError } from '../../kernel/errors.js';
import { KeyCounts } from '../../kernel/key-counts.js';
import { tenantShare } from '../../kernel/tenant-share.js';

/**
 * Upper bound of the bytes of all bodies that are being received or processed. Parsed bodies take a multiple of it.
 * Without the bound, a hundred slow clients with large bodies could exhaust the memory.
 */
export const BODIES_BYTES_MAX = 256 * 1_048_576;

const RETRY_AFTER_S = 1;
/** Owner of the bytes of callers without a tenant. */
const NO_TENANT = '';

/** Refuses the bodies that would exceed the bound, or the share of their tenant. */
export class BodyBudget {
  readonly #bytesMax: number;
  readonly #byTenant = new KeyCounts();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /**
   * Counts bytes that arrived; returns whether there was room for them. They count until they are released.
   *
   * @param tenantId undefined for a caller without a tenant, or one that is not known yet
   */
  add(bytes: number, tenantId = NO_TENANT): boolean {
    this.#bytes += bytes;
    this.#byTenant.add(tenantId, bytes);
    // Slow clients of one tenant must leave room for the bodies of others.
    return this.#byTenant.of(tenantId) <= tenantShare(this.#bytes, this.#bytesMax);
  }

  /** @param tenantId as the bytes were added */
  release(bytes: number, tenantId = NO_TENANT): void {
    this.#bytes -= bytes;
    this.#byTenant.add(tenantId, -bytes);
  }

  /** Counts the bytes that arrive, not the announced length: a client that sends nothing takes nothing. */
  readonly hook: preParsingHookHandler = (request, reply, payload, done) => {
    const tenantId = tenantOf(request);
    let bytes = 0;
    const count = (chunk: Buffer) => {
      bytes += chunk.length;
      if (this.add(chunk.length, tenantId)) return;
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
      this.release(bytes, tenantId);
    });
    done(null, payload);
  };
}

/** Returns the tenant whose project a request is for, or whose key it has. */
function tenantOf({ boundProject, boundPrincipal }: FastifyRequest): string | undefined {
  if (boundProject !== undefined) return boundProject.tenantId;
  return boundPrincipal?.kind === 'key' ? boundPrincipal.tenantId : undefined;
}
