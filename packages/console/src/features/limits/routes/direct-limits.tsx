import type { DirectLimit } from '@tollgate/contract';
import { Pencil, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useMay } from '../../../api/session.js';
import { Button, IconButton } from '../../../ui/button.js';
import { ConfirmDialog } from '../../../ui/confirm-dialog.js';
import { ReadFailure, Skeleton } from '../../../ui/states.js';
import { ruleDraft } from '../rules/rule-draft.js';
import { ruleSentence } from '../rules/rule-sentence.js';
import { useDeleteDirectLimit, useDirectLimits } from './api.js';
import { DirectLimitDialog } from './direct-limit-dialog.js';

/** The limits of a route that come in addition to those of its plan. */
export function DirectLimits({ routeId }: { readonly routeId: string }) {
  const limits = useDirectLimits(routeId);
  const [edited, setEdited] = useState<DirectLimit | 'new'>();
  const [removed, setRemoved] = useState<DirectLimit>();
  const isPermitted = useMay('usage_control:write');
  return (
    <section aria-label="Direct limits" className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="mr-auto text-[15px] font-semibold">
          Direct limits
          <span className="ml-2 text-xs font-normal text-ink-faint">
            for this route only, in addition to its limit plan
          </span>
        </h2>
        {isPermitted && (
          <Button look="primary" onClick={() => setEdited('new')}>
            <Plus size={14} />
            Add limit
          </Button>
        )}
      </div>
      {limits.isError && <ReadFailure of={limits} />}
      {limits.isPending && <Skeleton className="h-12" />}
      {limits.data?.length === 0 && (
        <p className="text-[13px] text-ink-soft">No direct limits. Only the limit plan applies.</p>
      )}
      {limits.data !== undefined && limits.data.length > 0 && (
        <ul className="divide-y divide-line rounded-xl border border-line bg-panel text-[13px] shadow-xs">
          {limits.data.map((limit) => (
            <LimitRow
              key={limit.id}
              limit={limit}
              isPermitted={isPermitted}
              onEdit={() => setEdited(limit)}
              onRemove={() => setRemoved(limit)}
            />
          ))}
        </ul>
      )}
      <DirectLimitDialog routeId={routeId} edited={edited} onClose={() => setEdited(undefined)} />
      <RemoveLimit routeId={routeId} limit={removed} onClose={() => setRemoved(undefined)} />
    </section>
  );
}

function LimitRow({
  limit,
  isPermitted,
  onEdit,
  onRemove,
}: {
  readonly limit: DirectLimit;
  readonly isPermitted: boolean;
  readonly onEdit: () => void;
  readonly onRemove: () => void;
}) {
  return (
    <li className="flex items-center gap-1 py-1.5 pr-2 pl-4">
      <p className="min-w-0 grow break-words">
        <span className="font-semibold">{limit.limit_key}</span>{' '}
        <span className="ml-1 text-ink-soft">{ruleSentence(ruleDraft(limit))}</span>
      </p>
      {isPermitted && (
        <>
          <IconButton label={`Edit ${limit.limit_key}`} onClick={onEdit}>
            <Pencil size={14} />
          </IconButton>
          <IconButton label={`Delete ${limit.limit_key}`} onClick={onRemove}>
            <Trash2 size={14} />
          </IconButton>
        </>
      )}
    </li>
  );
}

function RemoveLimit({
  routeId,
  limit,
  onClose,
}: {
  readonly routeId: string;
  readonly limit: DirectLimit | undefined;
  readonly onClose: () => void;
}) {
  const remove = useDeleteDirectLimit(routeId);
  return (
    <ConfirmDialog
      title={`Delete ${limit?.limit_key ?? 'the limit'}?`}
      action="Delete limit"
      change={remove}
      isOpen={limit !== undefined}
      onClose={onClose}
      onConfirm={() => limit !== undefined && remove.mutate(limit.id, { onSuccess: onClose })}
    >
      Its usage counter is deleted too. The limits of the limit plan stay in effect.
    </ConfirmDialog>
  );
}
