import { Link } from 'wouter';
import { useProject } from '../../../project.js';
import { useRecentSubjects } from './api.js';
import { subjectHref, subjectName } from './subject.js';

const SHOWN_MAX = 8;

/** Links to the subjects of the latest events. Renders nothing if there are none or they cannot be read. */
export function RecentSubjects() {
  const { id } = useProject();
  const { data: subjects = [] } = useRecentSubjects();
  if (subjects.length === 0) return null;
  return (
    <section aria-label="Recently active" className="max-w-xl">
      <h3 className="mb-2 text-xs font-normal text-ink-faint">Recently active</h3>
      <ul className="flex flex-wrap justify-center gap-1.5">
        {subjects.slice(0, SHOWN_MAX).map((subject) => (
          <li key={subjectName(subject)} className="min-w-0">
            <Link
              href={subjectHref(id, subject)}
              title={subjectName(subject)}
              className="block max-w-60 truncate rounded-full border border-line-strong bg-panel px-2.5 py-1 text-xs hover:bg-sunken"
            >
              {subjectName(subject)}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
