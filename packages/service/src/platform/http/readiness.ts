/** A check of `/readyz`: throws (or rejects) when the service cannot accept work. */
export type ReadinessCheck = () => void | Promise<void>;

/** A check that takes longer counts as failed. */
export const READINESS_CHECK_MS_MAX = 2_000;

export interface ReadinessReport {
  readonly ready: boolean;
  /** Per check: 'ok' or 'failed'. The reason is logged, not answered. */
  readonly checks: Readonly<Record<string, 'ok' | 'failed'>>;
}

/** Whether the service can accept work: all checks hold, and it is not shutting down. */
export class Readiness {
  readonly #checks = new Map<string, ReadinessCheck>();
  #shuttingDown = false;

  add(name: string, check: ReadinessCheck): void {
    this.#checks.set(name, check);
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
    const results = await Promise.all(
      [...this.#checks].map(async ([name, check]) => {
        try {
          await withinMs(READINESS_CHECK_MS_MAX, check);
          return [name, 'ok'] as const;
        } catch (error) {
          onFailure(name, error);
          return [name, 'failed'] as const;
        }
      }),
    );
    return {
      ready: !this.#shuttingDown && results.every(([, outcome]) => outcome === 'ok'),
      checks: Object.fromEntries(results),
    };
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
