/** Something that takes memory and can be loaded again. */
export interface Forgettable {
  readonly bytes: number;
  forget(): void;
}

/**
 * Keeps objects of at most `bytesMax` bytes in all, and always the newest one. Beyond that it drops the oldest ones.
 */
export class BoundedMemory {
  readonly #bytesMax: number;
  readonly #held = new Set<Forgettable>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  add(added: Forgettable): void {
    this.#held.add(added);
    this.#bytes += added.bytes;
    for (const oldest of this.#held) {
      if (this.#bytes <= this.#bytesMax || oldest === added) return;
      this.#held.delete(oldest);
      this.#bytes -= oldest.bytes;
      oldest.forget();
    }
  }
}
