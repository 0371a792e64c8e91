/** What lies over the page behind a dialog. */
export const DIMMED = 'fixed inset-0 z-40 bg-shade backdrop-blur-[1px]';

/** Stands for a dialog whose code is on its way: the press is seen to act, and nothing else is opened meanwhile. */
export function DialogLoading() {
  return <div role="status" aria-label="Loading" aria-busy className={DIMMED} />;
}
