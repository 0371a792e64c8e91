import { ApiError } from '@tollgate/sdk/browser';
import { Ban } from 'lucide-react';
import { decimalExact } from '../../../format.js';
import { FailureNote } from '../../../ui/states.js';
import { subjectName } from '../subjects/subject.js';

type Detail = ApiError['details'][number];

/** Shows why a lease was not opened: the limits without enough room, with their levels, or any other error. */
export function RefusedNote({ error }: { readonly error: unknown }) {
  if (!(error instanceof ApiError) || error.code !== 'limit_exceeded') return <FailureNote error={error} />;
  return (
    <div
      role="alert"
      className="flex items-start gap-2.5 rounded-lg bg-bad-soft px-3.5 py-2.5 text-[13px] text-bad"
    >
      <Ban size={16} className="mt-0.5 shrink-0" />
      <div className="min-w-0">
        <p className="font-semibold">
          {error.details.length === 1 ? 'This limit has' : 'These limits have'} not enough room
        </p>
        <ul className="mt-1 flex flex-col gap-0.5">
          {error.details.map((detail) => (
            <li key={`${detail.level} ${detail.path}`} className="wrap-anywhere">
              <FullLimit detail={detail} />
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

function FullLimit({ detail }: { readonly detail: Detail }) {
  const { limit_key: key, subject_type: type = '', subject_id: id = '', currency = '' } = detail;
  return (
    <>
      <code className="font-mono text-xs font-semibold">{key}</code> of <bdi>{subjectName({ type, id })}</bdi>
      : {decimalExact(detail.used_amount ?? '')} used and {decimalExact(detail.reserved_amount ?? '')}{' '}
      reserved of {decimalExact(detail.limit_amount ?? '')} {currency},{' '}
      {decimalExact(detail.asked_amount ?? '')} asked
    </>
  );
}
