/** Something that takes memory and can be loaded again. */
export interface Forgettable {
  readonly bytes: number;
  forget(): void;
}

/** Holds at most `bytesMax` bytes, and at least what was added last. Past that it forgets the oldest entries. */
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
