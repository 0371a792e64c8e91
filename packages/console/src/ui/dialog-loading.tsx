/** Style of the overlay behind a dialog. */
export const DIMMED = 'fixed inset-0 z-40 bg-shade';

/** Shown while the code of a dialog loads, so that the click has a visible effect and the page is blocked. */
export function DialogLoading() {
  return <div role="status" aria-label="Loading" aria-busy className={DIMMED} />;
}
