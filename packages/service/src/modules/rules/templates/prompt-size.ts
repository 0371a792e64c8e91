import type { DimensionConfig } from '@tollgate/contract';

/** The number dimension with the size of a call's prompt; imported prices of larger prompts compare it. */
export const PROMPT_SIZE = 'prompt_size';

/** Sizes in tokens above which public price tables have other prices. */
export const PROMPT_SIZES: readonly number[] = [128_000, 200_000, 256_000, 272_000, 512_000];

/**
 * Returns the dimension of the whole prompt, including cached tokens, in bands: charts then have a group for each price
 * and not for each size.
 */
export function promptSize(path: string, ...sumPaths: readonly string[]): DimensionConfig {
  return {
    name: PROMPT_SIZE,
    path,
    ...(sumPaths.length > 0 && { sum_paths: [...sumPaths] }),
    type: 'number',
    // "Above" excludes the size itself.
    bands: PROMPT_SIZES.map((size) => size + 1),
  };
}
