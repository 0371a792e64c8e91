import type { Warning } from '@tollgate/contract';
import type { ReactNode } from 'react';

/** The warnings about a request that was carried out. */
export function WarningList({ warnings }: { readonly warnings: readonly Warning[] }) {
  return (
    <ul className="mt-1 list-disc pl-4">
      {warnings.map(({ code, name, message }) => (
        <li key={`${code} ${name}`} className="break-words">
          {withNames(message)}
        </li>
      ))}
    </ul>
  );
}

/** Shows the names in a message, which stand between backticks, as code. */
function withNames(message: string): ReactNode {
  return message.split('`').map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a message keep their places
      <code key={index} className="font-mono text-xs font-semibold">
        {part}
      </code>
    ),
  );
}
