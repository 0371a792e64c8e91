import { useState } from 'react';
import { CopyButton } from '../../ui/copy-button.js';
import { Select } from '../../ui/field.js';
import { PLAIN_CODE, SDK_CODE } from './signature-code.js';

const WAYS = [
  { value: 'sdk', label: 'With @tollgate/sdk' },
  { value: 'plain', label: 'Without a library' },
] as const;

/** Shows how to verify the signature of a message. */
export function SignatureHelp() {
  const [way, setWay] = useState<(typeof WAYS)[number]['value']>('sdk');
  const code = way === 'sdk' ? SDK_CODE : PLAIN_CODE;
  return (
    <section aria-label="Verify the signature" className="max-w-4xl">
      <div className="mb-2 flex flex-wrap items-center gap-2">
        <h2 className="mr-auto text-[15px] font-semibold">Verify the signature</h2>
        <Select aria-label="Verification method" options={WAYS} value={way} onChange={setWay} />
        <CopyButton text={code} />
      </div>
      <p className="mb-3 text-[13px] text-ink-soft">
        Messages are signed according to{' '}
        <a
          href="https://www.standardwebhooks.com"
          target="_blank"
          rel="noreferrer"
          className="text-accent hover:underline"
        >
          Standard Webhooks
        </a>
        , which has libraries for many languages. Respond with any 2xx status within five seconds and process
        the message afterwards. The same <code className="font-mono text-xs">webhook-id</code> may arrive
        twice.
      </p>
      <pre className="overflow-x-auto rounded-lg border border-line bg-panel p-4 font-mono text-xs leading-relaxed">
        {code}
      </pre>
    </section>
  );
}
