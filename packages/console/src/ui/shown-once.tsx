import { CopyButton } from './copy-button.js';

/** Shows a secret that cannot be viewed again, with a copy button. */
export function ShownOnce({ secret, children }: { readonly secret: string; readonly children: string }) {
  return (
    <>
      <p className="text-[13px] text-ink-soft">{children}</p>
      <div className="mt-4 flex items-center gap-2 rounded-lg border border-line bg-page p-2 pl-3">
        <code className="min-w-0 grow font-mono text-xs break-all">{secret}</code>
        <CopyButton text={secret} />
      </div>
    </>
  );
}
