import type { Account } from '@tollgate/contract';
import { useMay } from '../../api/session.js';
import { count, dateTime } from '../../format.js';
import { useProject } from '../../project.js';
import { FactGrid, type NamedFact } from '../../ui/fact-grid.js';
import { InlineLink } from '../../ui/inline-link.js';
import { useRoutesOfAccount } from '../limits/routes/api.js';
import { subjectName, subjectOf } from '../limits/subjects/subject.js';

/** The settings of an account, and the subjects that it pays for. */
export function AccountFacts({ account }: { readonly account: Account }) {
  const mayReadRoutes = useMay('usage_control:read');
  const { timezone, metadata } = account;
  const facts: readonly NamedFact[] = [
    ['External ID', account.external_id ?? '–'],
    [
      'Account ID',
      <code key="id" className="font-mono text-xs break-all">
        {account.id}
      </code>,
    ],
    ['Created', `${dateTime(account.created_at, 'UTC')} UTC`],
    ['Timezone', timezone],
    ['Period anchor', dateTime(account.anchor, timezone)],
    ...(mayReadRoutes
      ? [['Subjects', <RoutedSubjects key="subjects" accountId={account.id} />] as const]
      : []),
    ...(Object.keys(metadata).length > 0
      ? [['Metadata', <Metadata key="metadata" metadata={metadata} />] as const]
      : []),
  ];
  return (
    <section aria-label="Account">
      <FactGrid facts={facts} />
    </section>
  );
}

function RoutedSubjects({ accountId }: { readonly accountId: string }) {
  const { id } = useProject();
  const { data } = useRoutesOfAccount(accountId);
  if (data === undefined) return null;
  const { subject_routes: routes, total_count: total } = data;
  if (total === 0) return 'None';
  return (
    <ul className="flex flex-wrap gap-x-3">
      {routes.map((route) => (
        <li key={route.id}>
          <InlineLink href={`/p/${id}/limits/routes/${route.id}`}>
            <bdi>{subjectName(subjectOf(route))}</bdi>
          </InlineLink>
        </li>
      ))}
      {total > routes.length && (
        <li>
          <InlineLink href={`/p/${id}/limits/routes?account=${accountId}`}>
            and {count(total - routes.length)} more
          </InlineLink>
        </li>
      )}
    </ul>
  );
}

function Metadata({ metadata }: Pick<Account, 'metadata'>) {
  return (
    <ul className="max-h-48 overflow-y-auto font-mono text-xs leading-relaxed">
      {Object.entries(metadata).map(([name, value]) => (
        <li key={name}>
          <bdi className="text-ink-soft">{name}</bdi>: <bdi>{JSON.stringify(value)}</bdi>
        </li>
      ))}
    </ul>
  );
}
