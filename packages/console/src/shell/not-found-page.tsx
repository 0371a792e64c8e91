import { useProject } from '../project.js';
import { MissingPage } from './failed-page.js';

/** Shown for an unknown address within a project. */
export function NotFoundPage() {
  const { id } = useProject();
  return (
    <MissingPage above={{ label: 'Boards', href: `/p/${id}/boards` }}>
      The address may be incomplete, or the page was deleted.
    </MissingPage>
  );
}
