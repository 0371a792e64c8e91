import { classes } from './classes.js';

type Tone = 'accent' | 'warn' | 'bad';

const TONES: Readonly<Record<Tone, string>> = { accent: 'bg-accent', warn: 'bg-warn', bad: 'bg-bad' };

/** A progress bar, hidden from screen readers: show the value as text, too. @param share 0 to 1 */
export function ShareBar({
  share,
  tone = 'accent',
  className,
}: {
  readonly share: number;
  readonly tone?: Tone;
  readonly className?: string;
}) {
  return (
    <span
      aria-hidden="true"
      className={classes('flex h-1.5 overflow-hidden rounded-full bg-sunken', className)}
    >
      <span className={classes('transition-[width]', TONES[tone])} style={{ width: `${share * 100}%` }} />
    </span>
  );
}
