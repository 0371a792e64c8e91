import type { ConvertedTable, ModelsBy } from '../../modules/rules/index.js';

/** What became of the table, in lines for the operator: everything that the rules do not say is named. */
export function describeConversion(converted: ConvertedTable): string {
  const { rules, priced, withoutTokenPrice } = converted;
  return [
    `${counted(priced.length, 'model')} priced by ${counted(rules.length, 'rule')}.`,
    ...section('Priced as input or output, for want of a price of their own:', converted.fallbacks),
    ...section('Rounded to 18 decimals:', converted.rounded),
    ...section('Not converted:', converted.leftOut),
    ...promptSizeNote(converted.leftOut),
    ...section('Refused:', converted.refused),
    ...(withoutTokenPrice.length > 0 ? [`Without a price by the token: ${listed(withoutTokenPrice)}`] : []),
  ].join('\n');
}

function section(title: string, entries: ModelsBy): string[] {
  if (entries.size === 0) return [];
  return [title, ...Array.from(entries, ([what, models]) => `  ${shown(what)}: ${listed(models)}`)];
}

function promptSizeNote(leftOut: ModelsBy): string[] {
  if (![...leftOut.keys()].some((key) => /_above_\d+k_tokens$/.test(key))) return [];
  return [
    '  Larger prompts are charged at the price of small ones. --prompt-tokens-dimension NAME includes their prices,',
    '  if your extractors have a number dimension of that name with the size of the whole prompt.',
  ];
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function listed(models: readonly string[]): string {
  return `${counted(models.length, 'model')} (${models.map(shown).join(', ')})`;
}

/** A text from the file, safe for a terminal. */
function shown(text: string): string {
  return text.replace(/\p{C}/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
