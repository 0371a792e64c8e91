import { type ReactNode, useState } from 'react';
import { useLocation } from 'wouter';
import { useProject } from '../../../project.js';
import { TextInput } from '../../../ui/field.js';
import { SearchForm } from '../../../ui/search-form.js';
import { subjectHref } from '../subjects/subject.js';
import { SubjectForm } from '../subjects/subject-form.js';

/** Finds leases by their subject or by their ID. */
export function LeasesPage() {
  const { id: projectId } = useProject();
  const [, navigate] = useLocation();
  return (
    <div className="flex flex-col gap-6 px-4 pb-10 sm:px-6">
      <Lookup title="By subject" hint="Shows active and past leases of a subject.">
        <SubjectForm
          initial={{ type: '', id: '' }}
          action="Show leases"
          onSubmit={(subject) => navigate(subjectHref(projectId, subject))}
        />
      </Lookup>
      <Lookup title="By ID" hint="Events send it in x-usage-control.budget_lease_id.">
        <LeaseForm onSubmit={(id) => navigate(`/p/${projectId}/limits/leases/${encodeURIComponent(id)}`)} />
      </Lookup>
    </div>
  );
}

function Lookup({
  title,
  hint,
  children,
}: {
  readonly title: string;
  readonly hint: string;
  readonly children: ReactNode;
}) {
  return (
    <section aria-label={title} className="flex flex-col gap-2">
      <h2 className="text-[13px] font-semibold">
        {title} <span className="ml-1 font-normal text-ink-faint">{hint}</span>
      </h2>
      {children}
    </section>
  );
}

function LeaseForm({ onSubmit }: { readonly onSubmit: (id: string) => void }) {
  const [id, setId] = useState('');
  return (
    <SearchForm action="Show lease" onSubmit={() => onSubmit(id.trim())}>
      <TextInput
        aria-label="Lease ID"
        placeholder="bl_…"
        required
        className="w-full font-mono sm:w-[26.5rem]"
        value={id}
        onChange={(event) => setId(event.target.value)}
      />
    </SearchForm>
  );
}
