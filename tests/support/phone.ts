import type { Page } from 'playwright-core';

interface Point {
  readonly x: number;
  readonly y: number;
}

/** A page on a small screen that is touched, and one finger. */
export interface Phone {
  readonly page: Page;
  /** Puts the finger down at the first point, and moves it by and by to the second, where it stays. */
  drag(from: Point, to: Point): Promise<void>;
  lift(): Promise<void>;
  close(): Promise<void>;
}

const STEPS = 6;

/** A phone in the same browser as `beside`, which shares nothing with it. */
export async function openPhone(beside: Page): Promise<Phone> {
  const context = await beside
    .context()
    .browser()
    ?.newContext({ locale: 'en-GB', hasTouch: true, viewport: { width: 390, height: 700 } });
  if (context === undefined) throw new Error('the browser is gone');
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', touchPoints: Point[]) =>
    devtools.send('Input.dispatchTouchEvent', { type, touchPoints });
  return {
    page,
    drag: async (from, to) => {
      await touch('touchStart', [from]);
      for (let step = 1; step <= STEPS; step++) {
        const share = step / STEPS;
        const x = from.x + (to.x - from.x) * share;
        await touch('touchMove', [{ x, y: from.y + (to.y - from.y) * share }]);
      }
    },
    lift: async () => {
      await touch('touchEnd', []);
    },
    close: () => context.close(),
  };
}
