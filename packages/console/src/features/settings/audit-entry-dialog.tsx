import type { AuditEntry } from '@tollgate/contract';
import { dateTime } from '../../format.js';
import { Button } from '../../ui/button.js';
import { Dialog, DialogActions } from '../../ui/dialog.js';
import { Fact, Facts } from '../../ui/facts.js';
import { ReadFailure, Skeleton } from '../../ui/states.js';
import { useHistoryOf } from './api.js';
import { type ChangedPlace, entryBefore, placesChanged } from './change-diff.js';

/** One audit entry: its actor, and the values that it changed. */
export function AuditEntryDialog({
  entry,
  actor,
  onFilter,
  onClose,
}: {
  readonly entry: AuditEntry;
  readonly actor: string;
  readonly onFilter: () => void;
  readonly onClose: () => void;
}) {
  return (
    <Dialog title={entry.action} description={entry.resource_id} isOpen isWide onClose={onClose}>
      <Facts>
        <Fact name="Time">{dateTime(entry.created_at, 'UTC')} UTC</Fact>
        <Fact name="Actor">
          {actor} {actor !== entry.actor && <code className="font-mono text-xs">{entry.actor}</code>}
        </Fact>
        {entry.project_id !== null && <Fact name="Project">{entry.project_id}</Fact>}
        <Fact name="Request">
          <code className="font-mono text-xs">{entry.request_id}</code>
        </Fact>
      </Facts>
      <div className="mt-5">
        {entry.change === null ? (
          <p className="text-[13px] text-ink-soft">This action has no further details.</p>
        ) : (
          <Change entry={entry} />
        )}
      </div>
      <DialogActions>
        <Button onClick={onFilter}>Show all changes</Button>
      </DialogActions>
    </Dialog>
  );
}

function Change({ entry }: { readonly entry: AuditEntry }) {
  const history = useHistoryOf(entry);
  if (history.isError) return <ReadFailure of={history} />;
  if (history.isPending) return <Skeleton className="h-32" />;
  const before = entryBefore(entry, history.data);
  const places = placesChanged(before?.change, entry.change);
  return (
    <section aria-label="Changed values">
      <h3 className="mb-2 text-[13px] font-semibold">
        {before === undefined ? 'Values written' : `Changes since ${dateTime(before.created_at, 'UTC')} UTC`}
      </h3>
      {places.length === 0 ? (
        <p className="text-[13px] text-ink-soft">No values changed.</p>
      ) : (
        <ul className="overflow-x-auto rounded-lg border border-line bg-page py-2 font-mono text-xs leading-relaxed">
          {places.map((place) => (
            <Place key={place.path} place={place} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Place({ place: { path, before, after } }: { readonly place: ChangedPlace }) {
  const name = path === '' ? '' : `${path}: `;
  return (
    <li>
      {before !== undefined && (
        <p className="bg-bad-soft px-3 break-all text-bad">
          <span className="select-none">− </span>
          {name}
          {before}
        </p>
      )}
      {after !== undefined && (
        <p className="bg-good-soft px-3 break-all text-good">
          <span className="select-none">+ </span>
          {name}
          {after}
        </p>
      )}
    </li>
  );
}
