import { Link } from 'wouter';
import { useProject } from '../../../project.js';
import { usePlan } from '../plans/api.js';

/** The title of a limit plan, with a link to it. */
export function PlanName({ id }: { readonly id: string | null }) {
  return id === null ? <span className="text-ink-faint">No plan</span> : <PlanLink id={id} />;
}

function PlanLink({ id }: { readonly id: string }) {
  const { id: projectId } = useProject();
  const plan = usePlan(id);
  return (
    <Link href={`/p/${projectId}/limits/plans/${id}`} className="relative z-10 hover:underline">
      {plan.data?.title ?? id}
    </Link>
  );
}
