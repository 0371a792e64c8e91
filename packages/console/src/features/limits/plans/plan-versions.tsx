import type { UsageLimitPlanVersion } from '@tollgate/contract';
import { useState } from 'react';
import { dateTime } from '../../../format.js';
import { Button } from '../../../ui/button.js';
import { Select } from '../../../ui/field.js';
import { Pager } from '../../../ui/pager.js';
import { ReadFailure, Skeleton } from '../../../ui/states.js';
import { type Column, Table } from '../../../ui/table.js';
import { usePlanVersions } from './api.js';
import { diffOf } from './plan-diff.js';
import { PlanDiffView } from './plan-diff-view.js';

/** The revisions of a plan, and the differences between two of them. */
export function PlanVersions({ planId }: { readonly planId: string }) {
  const [offset, setOffset] = useState(0);
  const versions = usePlanVersions(planId, offset);
  const [chosen, setChosen] = useState<string>();
  if (versions.isError) return <ReadFailure of={versions} />;
  if (versions.data === undefined) return <Skeleton className="h-32" />;
  const rows = versions.data.versions;
  const index = rows.findIndex(({ id }) => id === chosen);
  return (
    <section aria-label="Revisions" className="flex flex-col gap-3">
      <h2 className="text-[15px] font-semibold">Revisions</h2>
      <Table
        label="Revisions"
        columns={columnsFor(chosen, (id) => setChosen(id === chosen ? undefined : id))}
        rows={rows}
        keyOf={({ id }) => id}
      />
      <Pager page={versions.data} onOffset={setOffset} />
      {rows[index] !== undefined && <Comparison key={chosen} rows={rows} index={index} />}
    </section>
  );
}

function columnsFor(
  chosen: string | undefined,
  onChoose: (id: string) => void,
): readonly Column<UsageLimitPlanVersion>[] {
  return [
    { title: 'Revision', cell: (version) => <span className="font-medium">{versionName(version)}</span> },
    {
      title: 'Published (UTC)',
      cell: ({ published_at }) => (published_at === null ? '—' : dateTime(published_at, 'UTC')),
    },
    { title: 'Title', cell: ({ title }) => title },
    { title: 'Rules', isNumber: true, cell: ({ rules }) => rules.length },
    {
      title: 'Compare',
      isTitleHidden: true,
      isNumber: true,
      cell: (version) => (
        <Button
          size="small"
          look="quiet"
          aria-pressed={version.id === chosen}
          aria-label={`Changes in ${versionName(version).toLowerCase()}`}
          onClick={() => onChoose(version.id)}
        >
          {version.id === chosen ? 'Hide changes' : 'Changes'}
        </Button>
      ),
    },
  ];
}

const NOTHING = '';

function Comparison({
  rows,
  index,
}: {
  readonly rows: readonly UsageLimitPlanVersion[];
  readonly index: number;
}) {
  const version = rows[index] as UsageLimitPlanVersion;
  const [otherId, setOtherId] = useState(rows[index + 1]?.id ?? NOTHING);
  const others = rows.filter(({ id }) => id !== version.id);
  const before = others.find(({ id }) => id === otherId);
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-2 text-[13px] text-ink-soft">
        <span>
          Changes in <span className="font-medium text-ink">{versionName(version).toLowerCase()}</span>{' '}
          compared with
        </span>
        <Select
          aria-label="Compare with"
          options={[
            ...others.map((other) => ({ value: other.id, label: versionName(other) })),
            { value: NOTHING, label: 'An empty plan' },
          ]}
          value={otherId}
          onChange={setOtherId}
        />
      </div>
      <PlanDiffView label="Changes" diff={diffOf(before, version)} />
    </div>
  );
}

function versionName({ revision }: UsageLimitPlanVersion): string {
  return revision === 0 ? 'Draft' : `Revision ${revision}`;
}
