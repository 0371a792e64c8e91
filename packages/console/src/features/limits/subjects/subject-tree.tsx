import { CornerDownRight, Network } from 'lucide-react';
import { useProject } from '../../../project.js';
import { InlineLink } from '../../../ui/inline-link.js';
import { useSubjectTree } from '../routes/api.js';
import { EVERY, type Subject, subjectHref, subjectName, subjectOf } from './subject.js';

/** The subjects above and below a subject. Nothing for a subject that has neither. */
export function SubjectTree({ subject }: { readonly subject: Subject }) {
  const tree = useSubjectTree(subject);
  if (tree.data === undefined) return null;
  const { chain, below, belowCount } = tree.data;
  if (chain.length < 2 && below.length === 0) return null;
  return (
    <section
      aria-label="Levels"
      className="flex flex-col gap-2 rounded-xl border border-line bg-panel p-4 text-[13px] shadow-xs"
    >
      <h3 className="flex items-center gap-2 font-semibold">
        <Network size={15} className="text-ink-faint" /> Levels
        <span className="font-normal text-ink-faint">
          Usage counts for this subject and for all above it.
        </span>
      </h3>
      <ul className="flex flex-col gap-1">
        {chain.map((level, depth) => (
          <TreeRow
            key={subjectName(level.subject)}
            subject={level.subject}
            depth={depth}
            note={level.route?.subject_id === EVERY ? `route of every ${level.subject.type}` : undefined}
            isCurrent={depth === chain.length - 1}
          />
        ))}
        {below.map((route) => (
          <TreeRow key={route.id} subject={subjectOf(route)} depth={chain.length} />
        ))}
      </ul>
      {belowCount > below.length && (
        <p className="text-ink-faint">and {belowCount - below.length} more below</p>
      )}
    </section>
  );
}

function TreeRow({
  subject,
  depth,
  note,
  isCurrent = false,
}: {
  readonly subject: Subject;
  readonly depth: number;
  readonly note?: string | undefined;
  readonly isCurrent?: boolean;
}) {
  const { id: projectId } = useProject();
  const name = subjectName(subject);
  return (
    <li className="flex items-center gap-1.5" style={{ paddingInlineStart: `${depth * 1.25}rem` }}>
      {depth > 0 && <CornerDownRight size={14} className="shrink-0 text-ink-faint" />}
      {isCurrent ? (
        <strong aria-current="true" className="font-semibold wrap-anywhere">
          {name}
        </strong>
      ) : (
        <span className="wrap-anywhere">
          <InlineLink href={subjectHref(projectId, subject)}>{name}</InlineLink>
        </span>
      )}
      {note !== undefined && <span className="text-xs text-ink-faint">{note}</span>}
    </li>
  );
}
