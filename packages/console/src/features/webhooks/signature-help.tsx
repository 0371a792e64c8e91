import { useState } from 'react';
import { CopyButton } from '../../ui/copy-button.js';
import { Select } from '../../ui/field.js';
import { PLAIN_CODE, SDK_CODE } from './signature-code.js';

const WAYS = [
  { value: 'sdk', label: 'With @tollgate/sdk' },
  { value: 'plain', label: 'Without a library' },
] as const;

/** How a receiver knows that a message is one of ours. */
export function SignatureHelp() {
  const [way, setWay] = useState<(typeof WAYS)[number]['value']>('sdk');
  const code = way === 'sdk' ? SDK_CODE : PLAIN_CODE;
  return (
    <section aria-label="Verify the signature" className="max-w-4xl">
      <div className="mb-2 flex flex-wrap items-center gap-2">
        <h2 className="mr-auto text-[15px] font-semibold">Verify the signature</h2>
        <Select aria-label="How to verify" options={WAYS} value={way} onChange={setWay} />
        <CopyButton text={code} />
      </div>
      <p className="mb-3 text-[13px] text-ink-soft">
        Messages are signed as{' '}
        <a
          href="https://www.standardwebhooks.com"
          target="_blank"
          rel="noreferrer"
          className="text-accent hover:underline"
        >
          Standard Webhooks
        </a>{' '}
        says, for which there are libraries in many languages. Answer with any 2xx within five seconds, and
        work on the message afterwards; the same <code className="font-mono text-xs">webhook-id</code> may
        come twice.
      </p>
      <pre className="overflow-x-auto rounded-lg border border-line bg-panel p-4 font-mono text-xs leading-relaxed">
        {code}
      </pre>
    </section>
  );
}
