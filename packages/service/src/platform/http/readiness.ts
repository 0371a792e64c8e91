/** A check of `/readyz`: throws (or rejects) when a part is away. */
export type ReadinessCheck = () => void | Promise<void>;

/** Whether work can be accepted without the part; one that is not needed is only reported. */
export interface ReadinessCheckOptions {
  readonly isNeeded: boolean;
}

/** A check that takes longer counts as failed. */
const READINESS_CHECK_MS_MAX = 2_000;

export interface ReadinessReport {
  readonly ready: boolean;
  /** Per check: 'ok' or 'failed'. The reason is logged, not answered. */
  readonly checks: Readonly<Record<string, 'ok' | 'failed'>>;
}

/** Whether the service can accept work: what that needs is there, and it is not shutting down. */
export class Readiness {
  readonly #checks = new Map<string, ReadinessCheckOptions & { readonly check: ReadinessCheck }>();
  #shuttingDown = false;

  add(name: string, check: ReadinessCheck, { isNeeded }: ReadinessCheckOptions = { isNeeded: true }): void {
    this.#checks.set(name, { check, isNeeded });
  }

  /** Call first at shutdown: from this moment the service is not ready and takes no new request. */
  beginShutdown(): void {
    this.#shuttingDown = true;
  }

  get shuttingDown(): boolean {
    return this.#shuttingDown;
  }

  async report(onFailure: (name: string, error: unknown) => void): Promise<ReadinessReport> {
    if (this.#shuttingDown) return { ready: false, checks: {} };
    let canAccept = true;
    const results = await Promise.all(
      [...this.#checks].map(async ([name, { check, isNeeded }]) => {
        try {
          await withinMs(READINESS_CHECK_MS_MAX, check);
          return [name, 'ok'] as const;
        } catch (error) {
          onFailure(name, error);
          if (isNeeded) canAccept = false;
          return [name, 'failed'] as const;
        }
      }),
    );
    return { ready: canAccept && !this.#shuttingDown, checks: Object.fromEntries(results) };
  }
}

async function withinMs(limitMs: number, check: ReadinessCheck): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${limitMs} ms`)), limitMs);
  });
  try {
    await Promise.race([check(), late]);
  } finally {
    clearTimeout(timer);
  }
}
