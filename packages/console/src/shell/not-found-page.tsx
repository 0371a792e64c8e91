import { useProject } from '../project.js';
import { MissingPage } from './failed-page.js';

/** Of an address that leads nowhere. */
export function NotFoundPage() {
  const { id } = useProject();
  return (
    <MissingPage above={{ label: 'Boards', href: `/p/${id}/boards` }}>
      The address may have been cut off, or what it led to was deleted.
    </MissingPage>
  );
}
