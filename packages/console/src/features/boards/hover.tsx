import { type ReactNode, useLayoutEffect, useRef } from 'react';

/** The bucket and the series at the pointer. They change with every move, so they are not React state. */
export class Hover {
  readonly #listeners = new Set<() => void>();
  #index: number | undefined;
  #series: string | undefined;

  get index(): number | undefined {
    return this.#index;
  }

  /** The key of the series. */
  get series(): string | undefined {
    return this.#series;
  }

  set(index: number | undefined): void {
    if (index === this.#index) return;
    this.#index = index;
    this.#notify();
  }

  setSeries(key: string | undefined): void {
    if (key === this.#series) return;
    this.#series = key;
    this.#notify();
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** A text that follows the pointer. It is written directly into the DOM, without rendering by React. */
export function HoverText({
  hover,
  textOf,
  className,
}: {
  readonly hover: Hover;
  readonly textOf: (index: number | undefined, series: string | undefined) => string;
  readonly className?: string;
}) {
  const place = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    const write = () => {
      const text = textOf(hover.index, hover.series);
      if (place.current !== null && place.current.textContent !== text) place.current.textContent = text;
    };
    write();
    return hover.subscribe(write);
  });
  return <span ref={place} className={className} />;
}

/** A list item that is highlighted while the pointer is on its series. */
export function HoverItem({
  hover,
  series,
  className,
  children,
}: {
  readonly hover: Hover;
  readonly series: string;
  readonly className: string;
  readonly children: ReactNode;
}) {
  const place = useRef<HTMLLIElement>(null);
  useLayoutEffect(() => {
    const mark = () => place.current?.toggleAttribute('data-pointed', hover.series === series);
    mark();
    return hover.subscribe(mark);
  });
  return (
    <li ref={place} className={className}>
      {children}
    </li>
  );
}
