import { useProject } from '../../../project.js';
import { InlineLink } from '../../../ui/inline-link.js';
import { usePlan } from '../plans/api.js';

/** The title of a limit plan, with a link to it. */
export function PlanName({ id }: { readonly id: string | null }) {
  return id === null ? <span className="text-ink-faint">No plan</span> : <PlanLink id={id} />;
}

function PlanLink({ id }: { readonly id: string }) {
  const { id: projectId } = useProject();
  const plan = usePlan(id);
  return <InlineLink href={`/p/${projectId}/limits/plans/${id}`}>{plan.data?.title ?? id}</InlineLink>;
}
