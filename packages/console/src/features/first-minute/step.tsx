import { Check } from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { classes } from '../../ui/classes.js';

export type StepState = 'waiting' | 'open' | 'done';

const STATE_NAMES: Readonly<Record<StepState, string>> = { waiting: 'later', open: 'now', done: 'done' };

/** A step: its title, its state, and its content. */
export function FirstStep({
  number,
  title,
  summary,
  state,
  isLast = false,
  children,
}: {
  readonly number: number;
  readonly title: string;
  /** The purpose of the step or, once it is done, its result. */
  readonly summary: ReactNode;
  readonly state: StepState;
  readonly isLast?: boolean;
  readonly children?: ReactNode;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  const before = useRef(state);
  useEffect(() => {
    // The button that opened this step is gone. Takes the focus unless it is elsewhere.
    const hasLostFocus = document.activeElement === document.body;
    if (before.current === 'waiting' && state === 'open' && hasLostFocus) heading.current?.focus();
    before.current = state;
  }, [state]);
  return (
    <li className="flex gap-3.5 sm:gap-4">
      <div className="flex flex-col items-center">
        <span
          aria-hidden
          className={classes(
            'flex size-7 shrink-0 items-center justify-center rounded-full text-[13px] font-semibold transition-colors',
            state === 'done' && 'bg-good-soft text-good',
            state === 'open' && 'bg-accent text-on-accent',
            state === 'waiting' && 'bg-sunken text-ink-faint',
          )}
        >
          {state === 'done' ? <Check size={15} /> : number}
        </span>
        {!isLast && <span aria-hidden className="mt-2 w-px grow bg-line" />}
      </div>
      <section aria-label={title} className={classes('min-w-0 grow', !isLast && 'pb-8')}>
        <h2
          ref={heading}
          tabIndex={-1}
          className={classes(
            'text-[15px] outline-none leading-7 font-semibold',
            state === 'waiting' && 'font-medium text-ink-faint',
          )}
        >
          {title} <span className="sr-only">({STATE_NAMES[state]})</span>
        </h2>
        <div className="text-[13px] text-ink-soft">{summary}</div>
        {children !== undefined && children !== false && <div className="mt-4">{children}</div>}
      </section>
    </li>
  );
}
