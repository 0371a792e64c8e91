import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser, type OpenConsole, openConsole } from '../support/console.js';

describe.runIf(hasBrowser)('a dimension of the type number in the console', () => {
  let opened: OpenConsole;
  let page: Page;

  beforeAll(async () => {
    opened = await openConsole();
    ({ page } = opened);
    await opened.signIn();
  });
  afterAll(() => opened?.close());

  const button = (name: string) => page.getByRole('button', { name, exact: true });

  it('adds up several paths, and is put into bands', async () => {
    await opened.goTo('Rules');
    await button('New rule set').click();
    await page.getByRole('menuitem', { name: 'Blank' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Sizes');
    await button('Create draft').click();
    await button('Add dimension').click();
    const dimension = page.getByRole('region', { name: 'Dimensions' });
    await dimension.getByLabel('Name', { exact: true }).fill('prompt_size');
    expect(await page.getByLabel('Bands').count()).toBe(0);
    await dimension.getByLabel('Type', { exact: true }).selectOption('Number');
    await dimension.getByLabel('Path', { exact: true }).fill('usage.input_tokens');
    await button('Add a list or another number').click();
    await page.getByLabel('Plus numbers at (1)').fill('usage.cached_tokens');
    await page.getByLabel('Bands').fill('128001, 2k');
    await page.getByText('Band 2: expected a decimal above 0').waitFor();
    await page.getByLabel('Bands').fill('128001, 200001, ');
    expect(await page.getByLabel('Bands').inputValue()).toBe('128001, 200001, ');
    await page.getByText('Band 2: expected a decimal above 0').waitFor({ state: 'detached' });
    await button('Save draft').click();
    await page
      .getByRole('main')
      .getByText('unsaved changes', { exact: true })
      .first()
      .waitFor({ state: 'detached' });
    await button('JSON').click();
    const json = page.getByRole('textbox', { name: 'Rule set as JSON', exact: true });
    expect(JSON.parse((await json.textContent()) ?? '').dimensions).toEqual([
      {
        name: 'prompt_size',
        path: 'usage.input_tokens',
        sum_paths: ['usage.cached_tokens'],
        type: 'number',
        bands: [128_001, 200_001],
      },
    ]);
    await button('Form').click();
    expect(await page.getByLabel('Bands').inputValue()).toBe('128001, 200001');
    await dimension.getByRole('button', { name: /^prompt_size/ }).click();
    await dimension.getByText(/^usage\.input_tokens \+ usage\.cached_tokens +number, in bands$/).waitFor();
  });
});
