import { DomainError } from '../../kernel/errors.js';
import type { MoveSource } from './moving.js';
import type { TenantMove } from './state-store.js';

/** Longer than any step may take. */
const RESPONSE_MS_MAX = 280_000;

/** Another cell has refused a step, or could not do it; the message is for the operator. */
export class CellStepError extends Error {
  override readonly name = 'CellStepError';
}

export interface CellAddress {
  /** URL of the cell's API. */
  readonly url: string;
  /** The service key, which is the same in all cells. */
  readonly serviceKey: string;
}

/** Returns the fields by which every step names a move. */
export function stepBody(tenantId: string, moveId: string) {
  return { tenant_id: tenantId, move_id: moveId };
}

/** Calls the steps of a move in a cell over HTTP. */
export class CellSteps {
  readonly #address: CellAddress;

  constructor(address: CellAddress) {
    this.#address = address;
  }

  /** @throws CellStepError */
  async call<T>(side: 'source' | 'target', step: string, body: object): Promise<T> {
    return (await this.#send(side, step, body)).json() as Promise<T>;
  }

  /** Returns the move of a tenant in the cell. @throws CellStepError */
  async currentMove(tenantId: string): Promise<TenantMove | undefined> {
    const { result } = await this.call<{ result: TenantMove | null }>('source', 'current', {
      tenant_id: tenantId,
    });
    return result ?? undefined;
  }

  /** @throws CellStepError */
  async bytes(step: string, body: object): Promise<Buffer> {
    return Buffer.from(await (await this.#send('source', step, body)).arrayBuffer());
  }

  async #send(side: string, step: string, body: object): Promise<Response> {
    const { url, serviceKey } = this.#address;
    let response: Response;
    try {
      response = await fetch(`${url.replace(/\/$/, '')}/internal/v1/moves/${side}/${step}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${serviceKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        redirect: 'error',
        signal: AbortSignal.timeout(RESPONSE_MS_MAX),
      });
    } catch (error) {
      const { message } = ((error as Error).cause ?? error) as Error;
      throw new CellStepError(`${url} did not respond to the step "${step}": ${message}.`, { cause: error });
    }
    if (response.ok) return response;
    const { error = response.statusText } = (await response.json().catch(() => ({}))) as { error?: string };
    throw new CellStepError(`${url} refused the step "${step}" (${response.status}): ${error}`);
  }
}

/** Returns the source of a move in another cell. Each of its calls can throw DomainError `cell_unavailable`. */
export function remoteSource(address: CellAddress): MoveSource {
  const steps = new CellSteps(address);
  const call = async <T>(step: string, body: object): Promise<T> =>
    relayed(steps.call<{ result: T }>('source', step, body)).then(({ result }) => result);
  return {
    status: (tenant_id, move_id) => call('status', { tenant_id, move_id }),
    rows: (tenant_id, move_id, range) => call('rows', { tenant_id, move_id, range }),
    digest: (tenant_id, move_id, table) => call('digest', { tenant_id, move_id, table }),
    nextUnit: async (tenant_id, move_id, project_id, span) =>
      (await call<Awaited<ReturnType<MoveSource['nextUnit']>> | null>('next-unit', {
        tenant_id,
        move_id,
        project_id,
        span,
      })) ?? undefined,
    unit: (tenant_id, move_id, project_id, unit) =>
      relayed(steps.bytes('unit', { tenant_id, move_id, project_id, unit })),
    historyDigest: (tenant_id, move_id, project_id) =>
      call('history-digest', { tenant_id, move_id, project_id }),
  };
}

async function relayed<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof CellStepError)) throw error;
    throw new DomainError('cell_unavailable', { message: error.message, cause: error });
  }
}
