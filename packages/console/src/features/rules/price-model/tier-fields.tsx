import { Plus, X } from 'lucide-react';
import { decimalExact } from '../../../format.js';
import { Button, IconButton } from '../../../ui/button.js';
import { useRulesForm } from '../form/context.js';
import type { ModelTier } from './model.js';
import type { ModelProblems } from './model-problems.js';
import { NumberCell } from './number-input.js';

const TIERS_MAX = 50;

/**
 * The tiers of a graduated or volume price. The last one has no upper bound. Phones do not show where a tier begins,
 * which is where the one before it ends: both numbers of a tier need the space.
 */
export function TierFields({
  tiers,
  problems,
  onChange,
}: {
  readonly tiers: readonly ModelTier[];
  readonly problems: ModelProblems;
  readonly onChange: (tiers: readonly ModelTier[]) => void;
}) {
  const { isReadOnly } = useRulesForm();
  const last = tiers.length - 1;
  const add = () => onChange(tiers.toSpliced(last, 0, { upTo: '', unitPrice: tiers[last]?.unitPrice ?? '' }));
  return (
    <div className="flex flex-col gap-2">
      <table className="w-full max-w-xl table-fixed text-[13px]">
        <caption className="sr-only">Tiers</caption>
        <thead className="text-left text-xs text-ink-faint">
          <tr>
            <th scope="col" className="w-1/4 pb-1.5 font-medium max-sm:hidden">
              Above
            </th>
            <th scope="col" className="pb-1.5 font-medium">
              Up to
            </th>
            <th scope="col" className="pb-1.5 pl-2 font-medium">
              Price per unit
            </th>
            <th scope="col" className="w-9 pb-1.5">
              <span className="sr-only">Remove</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {tiers.map((tier, index) => (
            <TierRow
              // biome-ignore lint/suspicious/noArrayIndexKey: a tier is identified only by its position
              key={index}
              tier={tier}
              index={index}
              above={index === 0 ? '0' : tiers[index - 1]?.upTo || '…'}
              isLast={index === last}
              problems={problems}
              onChange={(next) => onChange(tiers.with(index, next))}
              onRemove={() => onChange(tiers.toSpliced(index, 1))}
            />
          ))}
        </tbody>
      </table>
      {!isReadOnly && (
        <Button
          look="quiet"
          size="small"
          className="self-start"
          disabled={tiers.length >= TIERS_MAX}
          onClick={add}
        >
          <Plus size={14} /> Add tier
        </Button>
      )}
    </div>
  );
}

function TierRow({
  tier,
  index,
  above,
  isLast,
  problems,
  onChange,
  onRemove,
}: {
  readonly tier: ModelTier;
  readonly index: number;
  /** The bound of the tier before it. */
  readonly above: string;
  readonly isLast: boolean;
  readonly problems: ModelProblems;
  readonly onChange: (tier: ModelTier) => void;
  readonly onRemove: () => void;
}) {
  const { isReadOnly } = useRulesForm();
  const name = `Tier ${index + 1}`;
  return (
    <tr className="align-top">
      <td className="tabular truncate py-1 pt-2.5 pr-2 text-ink-soft max-sm:hidden">{decimalExact(above)}</td>
      <td className="py-1">
        {isLast ? (
          <p className="pt-1.5 pl-2.5 text-ink-faint">no limit</p>
        ) : (
          <NumberCell
            label={`${name}: up to`}
            error={problems[`tiers[${index}].upTo`]}
            placeholder="1000"
            value={tier.upTo}
            onChange={(upTo) => onChange({ ...tier, upTo })}
          />
        )}
      </td>
      <td className="py-1 pl-2">
        <NumberCell
          label={`${name}: price per unit`}
          error={problems[`tiers[${index}].unitPrice`]}
          placeholder="0.01"
          value={tier.unitPrice}
          onChange={(unitPrice) => onChange({ ...tier, unitPrice })}
        />
      </td>
      <td className="py-1 pl-1">
        {!isReadOnly && !isLast && (
          <IconButton label={`Remove tier ${index + 1}`} onClick={onRemove}>
            <X size={16} />
          </IconButton>
        )}
      </td>
    </tr>
  );
}
