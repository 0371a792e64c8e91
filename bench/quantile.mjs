/** The value below which the share of the others lies; undefined of none. @param sorted upwards */
export function quantile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}
