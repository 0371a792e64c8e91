import type { LimitRaise, SubjectRoute } from '@tollgate/contract';
import { CircleStop, TrendingUp } from 'lucide-react';
import { useState } from 'react';
import { useMay } from '../../../api/session.js';
import { isolated } from '../../../bidi.js';
import { dateTime, decimalExact } from '../../../format.js';
import { Badge } from '../../../ui/badge.js';
import { Button, IconButton } from '../../../ui/button.js';
import { ConfirmDialog } from '../../../ui/confirm-dialog.js';
import { ReadFailure, Skeleton } from '../../../ui/states.js';
import { useEndRaise, useRaises } from './api.js';
import { RaiseDialog } from './raise-dialog.js';

/** The raises of the limits of a route, newest first. */
export function Raises({ route }: { readonly route: SubjectRoute }) {
  const raises = useRaises(route.id);
  const [isAdding, setAdding] = useState(false);
  const [ended, setEnded] = useState<LimitRaise>();
  const isPermitted = useMay('usage_control:write');
  return (
    <section aria-label="Raises" className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="mr-auto text-[15px] font-semibold">
          Raises
          <span className="ml-2 text-xs font-normal text-ink-faint">higher limits for a time</span>
        </h2>
        {isPermitted && (
          <Button onClick={() => setAdding(true)}>
            <TrendingUp size={14} />
            Raise a limit
          </Button>
        )}
      </div>
      {raises.isError && <ReadFailure of={raises} />}
      {raises.isPending && <Skeleton className="h-12" />}
      {raises.data?.length === 0 && <p className="text-[13px] text-ink-soft">No raises.</p>}
      {raises.data !== undefined && raises.data.length > 0 && (
        <ul className="divide-y divide-line rounded-xl border border-line bg-panel text-[13px] shadow-xs">
          {raises.data.map((raise) => (
            <RaiseRow
              key={raise.id}
              raise={raise}
              timezone={route.timezone}
              onEnd={isPermitted ? () => setEnded(raise) : undefined}
            />
          ))}
        </ul>
      )}
      <RaiseDialog route={route} isOpen={isAdding} onClose={() => setAdding(false)} />
      <EndRaise routeId={route.id} raise={ended} onClose={() => setEnded(undefined)} />
    </section>
  );
}

function RaiseRow({
  raise,
  timezone,
  onEnd,
}: {
  readonly raise: LimitRaise;
  readonly timezone: string;
  readonly onEnd: (() => void) | undefined;
}) {
  const isActive = raise.status === 'active';
  const at = dateTime(raise.ended_at ?? raise.until, timezone);
  return (
    <li className="flex min-h-11 items-center gap-2 py-1.5 pr-2 pl-4">
      <p className="min-w-0 grow break-words">
        <span className="font-semibold">{raise.limit_key}</span>{' '}
        <span className="ml-1 text-ink-soft">
          +{decimalExact(raise.amount)} {isActive ? 'until' : 'ended'} {at} {timezone}:{' '}
          {isolated(raise.reason)}
        </span>
      </p>
      <Badge tone={isActive ? 'good' : 'neutral'}>{raise.status}</Badge>
      {isActive && onEnd !== undefined && (
        <IconButton label={`End the raise of ${raise.limit_key}`} onClick={onEnd}>
          <CircleStop size={14} />
        </IconButton>
      )}
    </li>
  );
}

function EndRaise({
  routeId,
  raise,
  onClose,
}: {
  readonly routeId: string;
  readonly raise: LimitRaise | undefined;
  readonly onClose: () => void;
}) {
  const end = useEndRaise(routeId);
  return (
    <ConfirmDialog
      title={`End the raise of ${raise?.limit_key ?? 'the limit'}?`}
      action="End raise"
      change={end}
      isOpen={raise !== undefined}
      onClose={onClose}
      onConfirm={() => raise !== undefined && end.mutate(raise.id, { onSuccess: onClose })}
    >
      The limit without this raise applies at once, in the current window too.
    </ConfirmDialog>
  );
}
