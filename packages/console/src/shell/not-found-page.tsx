import { Compass } from 'lucide-react';
import { Link } from 'wouter';
import { useProject } from '../project.js';
import { EmptyState } from '../ui/states.js';
import { PageHeader } from './shell.js';

/** Of an address that leads nowhere. */
export function NotFoundPage() {
  const { id } = useProject();
  return (
    <>
      <PageHeader title="Page not found" />
      <EmptyState
        icon={<Compass size={20} />}
        title="There is nothing here"
        action={
          <Link href={`/p/${id}/boards`} className="text-[13px] font-medium text-accent hover:underline">
            Go to the boards
          </Link>
        }
      >
        The address may have been cut off, or what it led to was deleted.
      </EmptyState>
    </>
  );
}
