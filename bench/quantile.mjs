/**
 * Returns the value below which this share of the others lies; undefined for an empty list.
 *
 * @param sorted in ascending order
 */
export function quantile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}
