import { useState } from 'react';
import { dateTime } from '../../format.js';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { Diff } from '../../ui/code/diff.js';
import { ConfirmDialog } from '../../ui/confirm-dialog.js';
import { Field, Select } from '../../ui/field.js';
import { ReadFailure, Skeleton } from '../../ui/states.js';
import { type RuleSetKind, type RuleSetVersion, useVersions } from './api.js';
import { bodyOf, jsonOf } from './body.js';
import { ChangeList } from './change-list.js';

export interface VersionsTabProps {
  readonly kind: RuleSetKind;
  readonly id: string;
  readonly isReadOnly: boolean;
  /** Whether there are unsaved edits, which restoring would overwrite. */
  readonly isDirty: boolean;
  readonly onRestore: (body: unknown) => void;
}

/** All versions with their changes, and a comparison of any two of them. */
export function VersionsTab({ kind, id, isReadOnly, isDirty, onRestore }: VersionsTabProps) {
  const versions = useVersions(kind, id);
  const [restoring, setRestoring] = useState<RuleSetVersion>();
  if (versions.isError) {
    return (
      <div className="px-4 sm:px-6">
        <ReadFailure of={versions} />
      </div>
    );
  }
  if (versions.data === undefined) return <Skeleton className="mx-4 h-64 sm:mx-6" />;
  const [newest] = versions.data;
  const restore = (version: RuleSetVersion) => {
    setRestoring(undefined);
    // The effective time belongs to the draft and is not restored.
    onRestore({ ...bodyOf(version), effective_from: newest?.effective_from });
  };
  return (
    <div className="flex flex-col gap-8 px-4 pb-10 sm:px-6">
      <ol aria-label="Versions" className="flex flex-col gap-3">
        {versions.data.map((version) => (
          <Version
            key={version.version}
            version={version}
            isRestorable={!isReadOnly && version !== newest}
            onRestore={() => (isDirty ? setRestoring(version) : restore(version))}
          />
        ))}
      </ol>
      {versions.data.length > 1 && <Comparison versions={versions.data} />}
      <ConfirmDialog
        title="Replace unsaved changes?"
        action="Replace changes"
        change={{ isPending: false, isError: false, error: null }}
        isOpen={restoring !== undefined}
        onClose={() => setRestoring(undefined)}
        onConfirm={() => restoring !== undefined && restore(restoring)}
      >
        All changes since the last save are lost and replaced by version {restoring?.version}.
      </ConfirmDialog>
    </div>
  );
}

function Version({
  version,
  isRestorable,
  onRestore,
}: {
  readonly version: RuleSetVersion;
  readonly isRestorable: boolean;
  readonly onRestore: () => void;
}) {
  const { status, changes, changes_omitted: omitted } = version;
  const count = (changes?.length ?? 0) + omitted;
  return (
    <li className="rounded-xl border border-line bg-panel px-4 py-3 shadow-xs">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5 text-[13px]">
        <h2 className="font-semibold">Version {version.version}</h2>
        <Badge tone={status === 'published' ? 'good' : status === 'draft' ? 'warn' : 'neutral'}>
          {status}
        </Badge>
        {isRestorable && (
          <Button size="small" className="ml-auto" onClick={onRestore}>
            Restore as draft
          </Button>
        )}
      </div>
      <dl className="mt-1.5 flex flex-wrap gap-x-5 gap-y-1 text-xs text-ink-soft">
        <Moment term="Created" at={version.created_at} />
        {version.published_at !== null && <Moment term="Published" at={version.published_at} />}
        <Moment term="Effective from" at={version.effective_from} />
      </dl>
      {changes === null ? (
        <p className="mt-2 text-xs text-ink-faint">First version.</p>
      ) : (
        <details className="mt-2">
          <summary className="w-fit cursor-pointer text-xs text-ink-soft hover:text-ink">
            {count === 1 ? '1 change' : `${count} changes`} since version {version.version - 1}
          </summary>
          <div className="mt-2">
            <ChangeList changes={changes} omitted={omitted} />
          </div>
        </details>
      )}
    </li>
  );
}

function Moment({ term, at }: { readonly term: string; readonly at: number }) {
  return (
    <div className="flex gap-1.5">
      <dt className="text-ink-faint">{term}</dt>
      <dd className="tabular">{dateTime(at, 'UTC')} UTC</dd>
    </div>
  );
}

function Comparison({ versions }: { readonly versions: readonly RuleSetVersion[] }) {
  const [newest, previous] = versions;
  const [from, setFrom] = useState(String(previous?.version));
  const [to, setTo] = useState(String(newest?.version));
  const options = versions.map(({ version, status }) => ({
    value: String(version),
    label: `Version ${version}${status === 'draft' ? ' (draft)' : ''}`,
  }));
  const textOf = (chosen: string) => {
    const version = versions.find((each) => String(each.version) === chosen);
    return version === undefined ? '' : jsonOf(bodyOf(version));
  };
  return (
    <section aria-labelledby="compare-versions" className="flex flex-col gap-3">
      <h2 id="compare-versions" className="text-[15px] font-semibold">
        Compare
      </h2>
      <div className="flex flex-wrap gap-3">
        <Field label="From">
          {(control) => <Select {...control} options={options} value={from} onChange={setFrom} />}
        </Field>
        <Field label="To">
          {(control) => <Select {...control} options={options} value={to} onChange={setTo} />}
        </Field>
      </div>
      <Diff label="Difference between the versions" before={textOf(from)} after={textOf(to)} />
    </section>
  );
}
