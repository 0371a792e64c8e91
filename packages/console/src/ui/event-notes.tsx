import type { UsageEventNote } from '@tollgate/contract';

/** Notes of an event, which say where it did not match the expectations of its rules although it was charged. */
export function EventNotes({ notes }: { readonly notes: readonly UsageEventNote[] }) {
  if (notes.length === 0) return null;
  return (
    <ul aria-label="Notes" className="mb-2 flex flex-col gap-1.5">
      {notes.map(({ code, path, message }) => (
        <li key={path} className="rounded-lg bg-warn-soft px-3.5 py-2.5 text-[13px] text-warn">
          {message} <code className="font-mono text-xs">{code}</code>
        </li>
      ))}
    </ul>
  );
}
