import { type ConvertedTable, type ModelsBy, PROMPT_SIZE, PROMPT_SIZES } from '../../modules/rules/index.js';

/** Report of an import for the operator: everything that was not converted is counted, and the first
 * models of each finding are named. */
export function describeConversion(converted: ConvertedTable, promptTokensDimension: string): string {
  const { models, withoutTokenPrice, notModels, promptSizes } = converted;
  const rules = models.reduce((count, model) => count + model.rules.length, 0);
  return [
    `${counted(models.length, 'model')} priced by ${counted(rules, 'rule')}.`,
    ...promptSizeNotes(promptSizes, promptTokensDimension),
    ...section('Without their own price, charged at the price of input or output:', converted.fallbacks),
    ...section('Rounded to 18 decimals of the price of a million:', converted.rounded),
    ...section('Not converted:', converted.leftOut),
    ...section('Refused:', converted.refused),
    ...(notModels.length > 0 ? [`Not a model: ${notModels.map(shown).join(', ')}`] : []),
    ...(withoutTokenPrice.length > 0 ? [`Without a price per token: ${listed(withoutTokenPrice)}`] : []),
  ].join('\n');
}

function section(title: string, entries: ModelsBy): string[] {
  if (entries.size === 0) return [];
  return [title, ...Array.from(entries, ([what, models]) => `  ${shown(what)}: ${listed(models)}`)];
}

function promptSizeNotes(sizes: readonly number[], dimension: string): string[] {
  if (sizes.length === 0) return [];
  const without = dimension === PROMPT_SIZE ? sizes.filter((size) => !PROMPT_SIZES.includes(size)) : [];
  return [
    `Larger prompts, above ${sizes.map(inThousands).join(', ')} tokens, are priced by the dimension ${dimension}. Events without it are ` +
      'charged the base price.',
    ...without.map(
      (size) =>
        `  The templates have no band above ${inThousands(size)}: add ${size + 1} to the bands of ${dimension}.`,
    ),
  ];
}

function inThousands(size: number): string {
  return `${size / 1_000}k`;
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Upper bound of the models listed per finding: in a whole table, thousands can have the same one. */
const NAMED_MODELS_MAX = 10;

function listed(models: readonly string[]): string {
  const named = models.slice(0, NAMED_MODELS_MAX).map(shown).join(', ');
  const others = models.length - NAMED_MODELS_MAX;
  return `${counted(models.length, 'model')} (${named}${others > 0 ? ` and ${others} more` : ''})`;
}

/** A text from the file, safe for a terminal. */
function shown(text: string): string {
  return text.replace(/\p{C}/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
