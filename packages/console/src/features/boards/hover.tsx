import { useLayoutEffect, useRef } from 'react';

/** Which bucket of a chart is pointed at. It changes with every move of the pointer, so React is left out of it. */
export class Hover {
  readonly #listeners = new Set<() => void>();
  #index: number | undefined;

  get index(): number | undefined {
    return this.#index;
  }

  set(index: number | undefined): void {
    if (index === this.#index) return;
    this.#index = index;
    for (const listener of this.#listeners) listener();
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** A text that follows the pointer; it is written into the page past React, which writes nothing into it. */
export function HoverText({
  hover,
  textOf,
  className,
}: {
  readonly hover: Hover;
  readonly textOf: (index: number | undefined) => string;
  readonly className?: string;
}) {
  const place = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    const write = () => {
      const text = textOf(hover.index);
      if (place.current !== null && place.current.textContent !== text) place.current.textContent = text;
    };
    write();
    return hover.subscribe(write);
  });
  return <span ref={place} className={className} />;
}
