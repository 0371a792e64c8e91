import type { ExtractorTemplate } from '@tollgate/contract';

const PROVIDERS: readonly (readonly [prefix: string, name: string])[] = [
  ['openai_', 'OpenAI'],
  ['anthropic_', 'Anthropic'],
  ['google_', 'Google'],
  ['aws_', 'Amazon'],
];

/** Whose payload a template reads; templates of a kind of usage belong to nobody. */
export function providerOf({ id }: Pick<ExtractorTemplate, 'id'>): string {
  return PROVIDERS.find(([prefix]) => id.startsWith(prefix))?.[1] ?? 'Any provider';
}
