import type { AuditEntry } from '@tollgate/contract';
import { ScrollText } from 'lucide-react';
import { useState } from 'react';
import { type AddressChanges, useAddress } from '../../address.js';
import { useProjects } from '../../api/projects.js';
import { dateTime } from '../../format.js';
import { useProject } from '../../project.js';
import { Button } from '../../ui/button.js';
import { Select } from '../../ui/field.js';
import { FilterInput } from '../../ui/filter-input.js';
import { Pager } from '../../ui/pager.js';
import { EmptyState, ReadFailure, Skeleton } from '../../ui/states.js';
import { type Column, PhoneLine, ROW_TARGET, Table } from '../../ui/table.js';
import { useActorNames } from './actor-names.js';
import { type AuditFilter, useApiKeys, useAuditLog } from './api.js';
import { AuditEntryDialog } from './audit-entry-dialog.js';

const TEXTS = { action: 'Action', resource_id: 'Resource ID' } as const;
const NAMES = ['actor', 'project_id', 'action', 'resource_id'] as const;

/** The audit log. Its filters and its page are in the address. */
export function AuditPage() {
  const [parameters, changeAddress] = useAddress();
  const filter: AuditFilter = Object.fromEntries(
    NAMES.flatMap((name) => {
      const value = parameters.get(name) ?? '';
      return value === '' ? [] : [[name, value]];
    }),
  );
  const offset = Math.max(Number.parseInt(parameters.get('offset') ?? '0', 10) || 0, 0);
  const log = useAuditLog(filter, offset);
  const actorName = useActorNames();
  const [chosen, setChosen] = useState<AuditEntry>();
  const put = (changes: AddressChanges) => changeAddress(changes, { replace: true });
  const entries = log.data?.entries ?? [];
  return (
    <div className="flex flex-col gap-4">
      <Filters
        filter={filter}
        actions={[...new Set(entries.map(({ action }) => action))]}
        onChange={(change) => put({ ...change, offset: '' })}
      />
      {log.isError && <ReadFailure of={log} />}
      {log.isPending && <Skeleton className="h-96" />}
      {log.isSuccess && entries.length === 0 && (
        <EmptyState icon={<ScrollText size={20} />} title="No matching changes">
          Change or clear the filters.
        </EmptyState>
      )}
      {entries.length > 0 && (
        <Table
          label="Audit log"
          columns={columnsOf(actorName, setChosen)}
          rows={entries}
          keyOf={({ id }) => id}
        />
      )}
      {log.data !== undefined && (
        <Pager page={log.data} onOffset={(next) => put({ offset: next === 0 ? '' : String(next) })} />
      )}
      {chosen !== undefined && (
        <AuditEntryDialog
          entry={chosen}
          actor={actorName(chosen.actor)}
          onFilter={() => {
            put({ resource_id: chosen.resource_id, actor: '', action: '', project_id: '', offset: '' });
            setChosen(undefined);
          }}
          onClose={() => setChosen(undefined)}
        />
      )}
    </div>
  );
}

function Filters({
  filter,
  actions,
  onChange,
}: {
  readonly filter: AuditFilter;
  /** The actions on the current page. */
  readonly actions: readonly string[];
  readonly onChange: (change: Readonly<Record<string, string>>) => void;
}) {
  const { tenant_id } = useProject();
  const { data: keys = [] } = useApiKeys();
  const { data: projects = [] } = useProjects();
  const own = projects.filter((project) => project.tenant_id === tenant_id);
  const actors = [
    { value: '', label: 'All actors' },
    { value: 'service', label: 'Service key' },
    ...keys.map(({ id, name }) => ({ value: id, label: name })),
  ];
  const { actor = '', project_id: projectId = '' } = filter;
  const isGone = !actors.some(({ value }) => value === actor);
  return (
    <search className="flex flex-wrap items-center gap-2">
      <Select
        aria-label="Actor"
        className="w-[calc(50%-0.25rem)] sm:w-auto"
        options={isGone ? [...actors, { value: actor, label: actor }] : actors}
        value={actor}
        onChange={(chosen) => onChange({ actor: chosen })}
      />
      <Select
        aria-label="Project"
        className="w-[calc(50%-0.25rem)] sm:w-auto"
        options={[
          { value: '', label: 'All projects' },
          ...own.map(({ id, name }) => ({ value: id, label: name })),
        ]}
        value={projectId}
        onChange={(chosen) => onChange({ project_id: chosen })}
      />
      {(['action', 'resource_id'] as const).map((name) => (
        <FilterInput
          key={name}
          label={TEXTS[name]}
          value={filter[name] ?? ''}
          suggestions={name === 'action' ? actions : []}
          onChange={(text) => onChange({ [name]: text })}
        />
      ))}
      {Object.keys(filter).length > 0 && (
        <Button look="quiet" onClick={() => onChange(Object.fromEntries(NAMES.map((name) => [name, ''])))}>
          Clear
        </Button>
      )}
    </search>
  );
}

function columnsOf(
  actorName: (actor: string) => string,
  onChoose: (entry: AuditEntry) => void,
): readonly Column<AuditEntry>[] {
  return [
    {
      title: 'Time (UTC)',
      cell: (entry) => (
        <>
          <button type="button" className={ROW_TARGET} onClick={() => onChoose(entry)}>
            {dateTime(entry.created_at, 'UTC')}
          </button>
          <PhoneLine>{actorName(entry.actor)}</PhoneLine>
        </>
      ),
    },
    {
      title: 'Actor',
      isForWideScreens: true,
      cell: ({ actor }) => <span title={actor}>{actorName(actor)}</span>,
    },
    { title: 'Action', cell: ({ action }) => <code className="font-mono text-xs">{action}</code> },
    {
      title: 'Resource',
      cell: ({ resource_id }) => <code className="font-mono text-xs text-ink-soft">{resource_id}</code>,
    },
    {
      title: 'Change',
      cell: ({ change }) => (
        <code className="font-mono text-xs text-ink-soft">
          {change === null ? '' : JSON.stringify(change)}
        </code>
      ),
    },
  ];
}
