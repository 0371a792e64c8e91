/** Opened resources, which are closed in reverse order. */
export class Closers {
  readonly #closers: (() => void | Promise<void>)[] = [];

  add(close: () => void | Promise<void>): void {
    this.#closers.push(close);
  }

  /** Closes everything once, also after a failure; then throws the first failure. */
  async closeAll(): Promise<void> {
    const failures: unknown[] = [];
    for (const close of this.#closers.splice(0).reverse()) {
      try {
        await close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  /** Closes everything because of `error` and throws it: errors of closing are only its consequence. */
  async closeAfter(error: unknown): Promise<never> {
    await this.closeAll().catch(() => {});
    throw error;
  }
}
