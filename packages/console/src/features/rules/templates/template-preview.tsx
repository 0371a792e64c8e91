import type { ExtractorTemplate, ExtractorTemplateSample } from '@tollgate/contract';
import { ExternalLink } from 'lucide-react';
import { useState } from 'react';
import { decimal } from '../../../format.js';
import { Button } from '../../../ui/button.js';
import { CodeEditor } from '../../../ui/code/code-editor.js';
import { Select } from '../../../ui/field.js';
import { TrialResult } from '../trial/trial-result.js';
import { unusedExtractors } from '../trial/unused-rules.js';
import type { TemplateMatch } from './match.js';
import { providerOf } from './provider.js';

/** The charge items that a template extracts from the pasted event or, without one, from its samples. */
export function TemplatePreview({
  template,
  match,
  onUseSample,
}: {
  readonly template: ExtractorTemplate;
  readonly match: TemplateMatch | undefined;
  readonly onUseSample: (text: string) => void;
}) {
  const { title, payload, documentation_url } = template;
  return (
    <section aria-label={title} className="flex min-w-0 flex-col gap-4">
      <div>
        <h2 className="text-[15px] font-semibold">
          {title} <span className="font-normal text-ink-soft">{providerOf(template)}</span>
        </h2>
        <p className="mt-1 max-w-prose text-[13px] text-ink-soft">
          <span className="font-medium text-ink">Payload:</span> {payload}
        </p>
        <a
          href={documentation_url}
          target="_blank"
          rel="noreferrer"
          className="mt-1 inline-flex items-center gap-1 text-[13px] text-accent hover:underline"
        >
          Payload documentation
          <ExternalLink size={12} aria-hidden />
        </a>
      </div>
      {match === undefined ? (
        <Samples samples={template.samples} onUseSample={onUseSample} />
      ) : (
        <TrialResult
          result={match.result}
          unused={unusedExtractors(template, match.result.charge_items)}
          unusedTitle="Extractors without a charge item"
          isOld={false}
        />
      )}
    </section>
  );
}

const SAMPLE_HEIGHT_PX = 120;
const SAMPLE_HEIGHT_PX_MAX = 320;

function Samples({
  samples,
  onUseSample,
}: {
  readonly samples: readonly ExtractorTemplateSample[];
  readonly onUseSample: (text: string) => void;
}) {
  const [index, setIndex] = useState('0');
  const sample = samples[Number(index)];
  if (sample === undefined) return null;
  const text = JSON.stringify(sample.raw_json, null, 2);
  return (
    <>
      <div className="flex flex-wrap items-center gap-2">
        <Select
          aria-label="Sample"
          className="max-w-full min-w-0"
          options={samples.map(({ title }, place) => ({ value: String(place), label: title }))}
          value={index}
          onChange={setIndex}
        />
        <Button onClick={() => onUseSample(text)}>Try this sample</Button>
      </div>
      <CodeEditor
        language="json"
        label={`Sample: ${sample.title}`}
        value={text}
        isReadOnly
        minHeight={SAMPLE_HEIGHT_PX}
        maxHeight={SAMPLE_HEIGHT_PX_MAX}
      />
      <SampleItems sample={sample} />
    </>
  );
}

function SampleItems({ sample }: { readonly sample: ExtractorTemplateSample }) {
  return (
    <section aria-label="Charge items of the sample">
      <h3 className="mb-1.5 text-[13px] font-semibold">Charge items of the sample</h3>
      <ul className="grid gap-x-8 gap-y-1 text-[13px] sm:grid-cols-2">
        {sample.charge_items.map(({ metric, unit, quantity }) => (
          <li key={`${metric} ${quantity}`} className="tabular flex justify-between gap-4">
            <code className="min-w-0 truncate font-mono text-xs leading-5">{metric}</code>
            <span className="whitespace-nowrap">
              {decimal(quantity)} <span className="text-ink-faint">{unit}</span>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
