import type { RealtimeLimit } from '@tollgate/contract';
import { useProject } from '../../../project.js';
import { InlineLink } from '../../../ui/inline-link.js';
import { Gauge } from './gauge.js';
import { subjectHref, subjectName, subjectOf } from './subject.js';

/** The gauges of all levels of a subject, its own first. */
export function LevelLimits({
  limits,
  timezone,
}: {
  readonly limits: readonly RealtimeLimit[];
  readonly timezone: string;
}) {
  const levels = [...new Set(limits.map(({ level }) => level))];
  return levels.map((level) => (
    <section key={level} className="flex flex-col gap-3">
      {level > 0 && <LevelTitle of={limits.find((limit) => limit.level === level)} />}
      <ul
        aria-label={level === 0 ? 'Limits' : `Limits of level ${level}`}
        className="grid gap-3 md:grid-cols-2 2xl:grid-cols-3"
      >
        {limits
          .filter((limit) => limit.level === level)
          .map((limit) => (
            <Gauge key={`${limit.id} ${limit.window_id}`} limit={limit} timezone={timezone} />
          ))}
      </ul>
    </section>
  ));
}

function LevelTitle({ of: limit }: { readonly of: RealtimeLimit | undefined }) {
  const { id: projectId } = useProject();
  if (limit === undefined) return null;
  const subject = subjectOf(limit);
  return (
    <h3 className="text-[13px] font-semibold">
      <span className="wrap-anywhere">
        <InlineLink href={subjectHref(projectId, subject)}>{subjectName(subject)}</InlineLink>
      </span>{' '}
      <span className="font-normal text-ink-faint">level {limit.level}: all usage below it counts</span>
    </h3>
  );
}
