import type { RealtimeLimit } from '@tollgate/contract';
import { Ban } from 'lucide-react';
import { Link } from 'wouter';
import { decimalSignificant } from '../../../format.js';
import { useProject } from '../../../project.js';
import { limitName } from './gauge.js';
import { isFull } from './limit-status.js';
import { subjectHref, subjectName, subjectOf } from './subject.js';

/** Says which limits refuse further usage of a subject, and at which level; nothing when none does. */
export function BlockedNote({ limits }: { readonly limits: readonly RealtimeLimit[] }) {
  const blocking = limits.filter((limit) => limit.action === 'block' && isFull(limit));
  if (blocking.length === 0) return null;
  return (
    <section
      aria-label="Why usage is blocked"
      className="flex items-start gap-2.5 rounded-lg bg-bad-soft px-3.5 py-2.5 text-[13px] text-bad"
    >
      <Ban size={16} className="mt-0.5 shrink-0" />
      <div className="min-w-0">
        <h3 className="font-semibold">
          {blocking.length === 1 ? 'A limit is' : `${blocking.length} limits are`} reached: checks and leases
          that need room in {blocking.length === 1 ? 'it' : 'them'} are refused
        </h3>
        <ul className="mt-1 flex flex-col gap-0.5">
          {blocking.map((limit) => (
            <BlockingLimit key={`${limit.level} ${limit.id}`} limit={limit} />
          ))}
        </ul>
      </div>
    </section>
  );
}

function BlockingLimit({ limit }: { readonly limit: RealtimeLimit }) {
  const { id: projectId } = useProject();
  const { used_amount, reserved_amount, limit_amount, currency, limit_key, level } = limit;
  const subject = subjectOf(limit);
  const held = reserved_amount === '0' ? '' : ` and ${decimalSignificant(reserved_amount)} reserved`;
  return (
    <li className="wrap-anywhere">
      {level === 0 ? (
        'This subject'
      ) : (
        <Link href={subjectHref(projectId, subject)} className="underline">
          {subjectName(subject)}
        </Link>
      )}
      : {limitName(limit)} (<code className="font-mono text-xs">{limit_key}</code>),{' '}
      {decimalSignificant(used_amount)} used{held} of {decimalSignificant(limit_amount)} {currency}
    </li>
  );
}
