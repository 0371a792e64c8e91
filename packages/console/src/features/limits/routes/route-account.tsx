import type { SubjectRoute } from '@tollgate/contract';
import { useProject } from '../../../project.js';
import { InlineLink } from '../../../ui/inline-link.js';

/** The account that pays for the subjects of a route, with a link to it. */
export function RouteAccount({ route: { account_id: id } }: { readonly route: SubjectRoute }) {
  const { id: projectId } = useProject();
  if (id === null) return <span className="text-ink-soft">The account of the parent</span>;
  return (
    <span className="font-mono text-xs break-all">
      <InlineLink href={`/p/${projectId}/billing/${id}`}>{id}</InlineLink>
    </span>
  );
}
