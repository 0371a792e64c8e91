import type { Page } from 'playwright-core';
import { waitFor } from '../../packages/service/src/testing/wait-for.js';

/**
 * Takes a thing at the second place by its handle, and puts it down at the first, as somebody does who uses
 * no pointer.
 */
export async function putFirst(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: `Move ${name}` }).focus();
  await page.keyboard.press('Space');
  await page.getByText(`${name} was moved over position 2`).waitFor({ state: 'attached' });
  // Where the page is scrolled, a first press only scrolls it.
  await waitFor(
    async () => {
      await page.keyboard.press('ArrowUp');
      return (await page.getByText(`${name} was moved over position 1`).count()) > 0;
    },
    { what: 'the first place' },
  );
  await page.keyboard.press('Space');
}
