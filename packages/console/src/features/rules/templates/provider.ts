import type { ExtractorTemplate } from '@tollgate/contract';

const PROVIDERS: readonly (readonly [prefix: string, name: string])[] = [
  ['openai_', 'OpenAI'],
  ['anthropic_', 'Anthropic'],
  ['google_', 'Google'],
  ['aws_', 'Amazon'],
];

/** The provider whose payload a template reads. Generic templates have none. */
export function providerOf({ id }: Pick<ExtractorTemplate, 'id'>): string {
  return PROVIDERS.find(([prefix]) => id.startsWith(prefix))?.[1] ?? 'Any provider';
}
