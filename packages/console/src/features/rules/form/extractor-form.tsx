import type { ChargeItemExtractor, DimensionConfig, SubjectConfig } from '@tollgate/contract';
import type { ExtractorBody } from '../body.js';
import { PriceEditor } from '../price-model/price-editor.js';
import { DimensionFields, summaryOfDimension } from './dimension-fields.js';
import { EntryList } from './entry-list.js';
import { ChoiceField, type FormPart, RequiredField, TextField } from './fields.js';
import { GeneralFields } from './general-fields.js';
import { summaryOfPaths } from './path-list.js';
import { QuantityFields } from './quantity-fields.js';
import { summaryOfPrice } from './rule-summary.js';
import { FieldGrid, FormSection } from './section.js';

const DIMENSIONS_MAX = 32;
const EXTRACTORS_MAX = 100;

const ON_UNPRICED = [
  { value: 'accept', label: 'Accept the event with amount 0' },
  { value: 'fail', label: 'Fail the event' },
];

/** All fields of an extractor rule set. */
export function ExtractorForm({ value, onChange }: Omit<FormPart<ExtractorBody>, 'path'>) {
  const { subject = {}, dimensions = [], charge_item_extractors: extractors = [] } = value;
  return (
    <>
      <FormSection title="General">
        <FieldGrid>
          <GeneralFields value={value} onChange={onChange} />
        </FieldGrid>
      </FormSection>
      <FormSection
        title="Subject"
        hint="Who used it. Paths refer to the raw JSON of the event. Not used for events sent with a subject."
      >
        <SubjectFields
          value={subject}
          path="subject"
          onChange={(next) => onChange({ ...value, subject: next })}
        />
      </FormSection>
      <FormSection title="Dimensions" hint="Attributes to group and filter by, in charts and in expressions.">
        <EntryList<DimensionConfig>
          noun="dimension"
          path="dimensions"
          entries={dimensions}
          max={DIMENSIONS_MAX}
          titleOf={({ name }) => name}
          summaryOf={summaryOfDimension}
          nothing="No dimensions. Usage can be grouped only by metric."
          makeEntry={() => ({ name: '', path: '', type: 'string' })}
          onChange={(next) => onChange({ ...value, dimensions: next })}
        >
          {(part) => <DimensionFields {...part} />}
        </EntryList>
      </FormSection>
      <FormSection
        title="Charge items"
        hint="Quantities of the event to charge, each as a metric. Without a price here, pricing rule sets apply."
      >
        <EntryList<ChargeItemExtractor>
          noun="charge item"
          path="charge_item_extractors"
          entries={extractors}
          max={EXTRACTORS_MAX}
          titleOf={({ name, metric }) => name ?? metric}
          summaryOf={(extractor) =>
            [summaryOfPaths(extractor), summaryOfPrice(extractor)].filter(Boolean).join('  → ')
          }
          nothing="No charge items. Events are counted but not charged."
          makeEntry={() => ({ metric: '', path: '', type: 'number' })}
          onChange={(next) => onChange({ ...value, charge_item_extractors: next })}
        >
          {(part) => <ChargeItemFields {...part} />}
        </EntryList>
        <FieldGrid>
          <ChoiceField
            value={value}
            path=""
            onChange={onChange}
            name="on_unpriced"
            label="When a charge item has no price"
            hint="A failed event has the code unpriced and can be reprocessed once there is a price."
            options={ON_UNPRICED}
          />
        </FieldGrid>
      </FormSection>
    </>
  );
}

function SubjectFields(part: FormPart<SubjectConfig>) {
  return (
    <>
      <FieldGrid>
        <TextField {...part} name="id_path" label="ID path" isCode placeholder="user.id" />
        <TextField {...part} name="default_id" label="Default ID" />
        <TextField {...part} name="type_path" label="Type path" isCode placeholder="user.type" />
        <TextField {...part} name="default_type" label="Default type" placeholder="customer" />
      </FieldGrid>
      <RequiredField {...part} label="Required: fail events without a subject" />
    </>
  );
}

function ChargeItemFields(part: FormPart<ChargeItemExtractor>) {
  return (
    <>
      <FieldGrid>
        <TextField {...part} name="metric" label="Metric" isRequired isCode placeholder="llm.input_tokens" />
        <TextField
          {...part}
          name="name"
          label="Name"
          hint="Shown with its charge items. Default: the metric."
        />
        <TextField {...part} name="unit" label="Unit" placeholder="token" />
        <TextField {...part} name="currency" label="Currency" isCode placeholder="USD" />
      </FieldGrid>
      <QuantityFields {...part} />
      <PriceEditor
        {...part}
        metric={part.value.metric}
        currency={part.value.currency ?? 'USD'}
        none={{ label: 'No price here', hint: 'Pricing rule sets set the price.' }}
      />
    </>
  );
}
