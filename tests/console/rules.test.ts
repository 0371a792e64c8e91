import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isolated } from '../../packages/console/src/bidi.js';
import { hasBrowser, type OpenConsole, openConsole } from '../support/console.js';
import { editorJson } from '../support/editor-json.js';
import { putFirst } from '../support/move-by-keyboard.js';

/** A name that would run if it were not shown as text. */
const NAME = '<img src=x onerror=alert(1)>';
const NARROW = { width: 360, height: 780 };
const WIDE = { width: 1_280, height: 900 };

describe.runIf(hasBrowser)('the rules in the console', () => {
  let opened: OpenConsole;
  let page: Page;

  beforeAll(async () => {
    opened = await openConsole();
    ({ page } = opened);
    await opened.signIn();
  });
  afterAll(() => opened?.close());

  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
  const editor = (name: string) => page.getByRole('textbox', { name, exact: true });
  const tab = (name: string) =>
    page.getByRole('navigation', { name: 'Rule set' }).getByRole('link', { name, exact: true });
  const status = (text: string) => page.getByRole('main').getByText(text, { exact: true }).first();
  /** The head of an entry; the only one of its list is open from the start. */
  const entry = (title: string) =>
    page.getByRole('listitem').getByRole('button', { name: new RegExp(`^${title}`) });
  /** Publishes what is being edited, with what the dialog offers. */
  const publish = async (version: number) => {
    await button('Publish…').click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: `Publish version ${version}` })
      .click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await status(`published v${version}`).waitFor();
  };

  it('lists rule sets, each with what prices it, and finds them by name and by status', async () => {
    await opened.goTo('Rules');
    const group = page.getByRole('region', { name: 'LLM calls' });
    await group.getByRole('link', { name: 'Model prices' }).waitFor();
    await page.getByLabel('Search rule sets').fill('model');
    await group.getByRole('link', { name: 'Model prices' }).waitFor();
    await page.getByLabel('Status').selectOption('Archived');
    await page.getByRole('heading', { name: 'No matching rule sets' }).waitFor();
    await page.getByLabel('Status').selectOption('Not archived');
  });

  it('makes an empty rule set, whose name stays text', async () => {
    await button('New rule set').click();
    await page.getByRole('menuitem', { name: 'Blank' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill(NAME);
    await button('Create draft').click();
    await page.getByRole('heading', { level: 1 }).getByText(NAME).waitFor();
    await status('draft v1').waitFor();
  });

  it('shows what is wrong in its place as one types, in the form and in the JSON', async () => {
    await button('Add dimension').click();
    await page.getByRole('region', { name: 'Dimensions' }).getByLabel('Name', { exact: true }).fill('model');
    await page.getByRole('region', { name: 'Dimensions' }).getByLabel('Path', { exact: true }).fill('model');
    await button('Add charge item').click();
    await page.getByLabel('Metric').fill('llm.tokens');
    await page.getByLabel('Quantity path').fill('usage.tokens');
    await page.getByLabel('Price model').selectOption('Expression');
    await editor('Unit price').fill('dec("0.5") * item.cost');
    await page.getByText(/^line 1, column 19: .*cost/).waitFor();
    const mark = page.locator('.cm-lintRange-error');
    expect(await mark.allTextContents()).toEqual(['cost']);
    expect(await button('Publish…').isDisabled()).toBe(true);

    await button('JSON').click();
    await mark.first().waitFor();
    expect((await mark.allTextContents()).join('')).toBe('cost');
    await button('Form').click();
    // The browser logs the refusals itself.
    const refusals = opened.problems.splice(0);
    expect(refusals).toEqual(refusals.map(() => expect.stringContaining('400')));
  });

  it('completes an expression, and lets Tab and Enter be', async () => {
    const price = editor('Unit price');
    await price.fill('');
    await price.pressSequentially('dec_m');
    await page.getByRole('option', { name: /^dec_mul/ }).waitFor();
    await page.keyboard.press('Escape');
    await price.fill('dec("0.5")');
    await price.press('Enter');
    await price.press('Tab');
    await page.getByLabel('Pricing unit').and(page.locator(':focus')).waitFor();
    expect(await price.textContent()).toBe('dec("0.5")');
  });

  it('saves a draft', async () => {
    await status('unsaved changes').waitFor();
    await button('Save draft').click();
    await status('unsaved changes').waitFor({ state: 'detached' });
    opened.problems.splice(0);
  });

  it('edits the same in the form and as JSON, and says where it is no JSON', async () => {
    await button('JSON').click();
    const json = editor('Rule set as JSON');
    const text = (await json.textContent()) ?? '';
    expect(JSON.parse(text)).toMatchObject({
      name: NAME,
      dimensions: [{ name: 'model', path: 'model', type: 'string' }],
      charge_item_extractors: [
        { metric: 'llm.tokens', path: 'usage.tokens', type: 'number', unit_price_expr: 'dec("0.5")' },
      ],
    });
    await json.fill(text.replace('llm.tokens', 'llm.all_tokens'));
    await button('Form').click();
    await entry('llm.all_tokens').waitFor();

    await button('JSON').click();
    await json.fill('{ "name": ');
    await page.getByText('The form is available once this is valid JSON.').waitFor();
    expect(await button('Form').isDisabled()).toBe(true);
    expect(await button('Save draft').isDisabled()).toBe(true);
    await button('Discard').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
    await button('Form').click();
    await entry('llm.tokens').waitFor();
  });

  it('adds up lists, and says what happens to counts that do not add up', async () => {
    await opened.goTo('Rules');
    await button('New rule set').click();
    await page.getByRole('menuitem', { name: 'Blank' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Lists');
    await button('Create draft').click();
    await button('Add charge item').click();
    await page.getByLabel('Metric').fill('llm.output_tokens');
    await button('Add a list or another quantity').click();
    await page.getByLabel('Plus numbers at (1)').fill('usage.iterations[*].output_tokens[');
    await page.getByText(/column \d+: expected a JSON path/).waitFor();
    await page.getByLabel('Plus numbers at (1)').fill('usage.iterations[*].output_tokens');
    expect(await page.getByLabel('If the result is negative').count()).toBe(0);
    const title = page.getByTitle('llm.output_tokens', { exact: true });
    expect(await title.evaluate((element) => element.scrollWidth <= element.clientWidth)).toBe(true);
    await button('Subtract another quantity').click();
    await page.getByLabel('Minus quantity at (1)').fill('usage.reasoning_tokens');
    await page.getByLabel('If the result is negative').selectOption('Charge 0, with a note');
    await button('Check against a total in the event').click();
    await page.getByLabel('Total path').fill('usage.total_tokens');
    await button('Add an included count').click();
    await page.getByLabel('Also includes (1)').fill('usage.input_tokens');
    await button('Save draft').click();
    await status('unsaved changes').waitFor({ state: 'detached' });
    await button('JSON').click();
    const saved = await editorJson(editor('Rule set as JSON'));
    expect(saved.charge_item_extractors).toEqual([
      {
        metric: 'llm.output_tokens',
        type: 'number',
        sum_paths: ['usage.iterations[*].output_tokens'],
        less_paths: ['usage.reasoning_tokens'],
        on_negative: 'clamp',
        stated_total: { path: 'usage.total_tokens', other_paths: ['usage.input_tokens'] },
      },
    ]);
    await button('Form').click();
    opened.problems.splice(0);
    await opened.goTo('Rules');
    await page.getByRole('link', { name: NAME }).first().click();
  });

  it('asks before unsaved changes are left behind', async () => {
    await page.getByLabel('Default type').fill('customer');
    await opened.choose('Limits');
    await page
      .getByRole('dialog', { name: 'Leave without saving?' })
      .getByRole('button', { name: 'Stay' })
      .click();
    await tab('Versions').click();
    await tab('Edit').click();
    expect(await page.getByLabel('Default type').inputValue()).toBe('customer');
  });

  it('publishes, and says beforehand what a later version changes', async () => {
    await publish(1);
    await page.getByRole('textbox', { name: 'Price', exact: true }).fill('0.25');
    await button('Publish…').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('charge_item_extractors[llm.tokens].unit_price_expr').waitFor();
    await dialog.getByText('dec("0.25")').waitFor();
    expect(await dialog.getByLabel('Immediately').isChecked()).toBe(true);
    await dialog.getByRole('link', { name: 'run a backtest first' }).waitFor();
    await dialog.getByRole('button', { name: 'Publish version 2' }).click();
    await status('published v2').waitFor();
  });

  it('compares versions, and restores one as a draft', async () => {
    await tab('Versions').click();
    const versions = page.getByRole('list', { name: 'Versions' }).getByRole('listitem');
    await versions.filter({ hasText: 'Version 1' }).first().waitFor();
    const difference = page.getByRole('region', { name: 'Difference between the versions' });
    await difference.getByText('"unit_price_expr": "dec(\\"0.25\\")"').waitFor();
    await button('Restore as draft').click();
    await status('unsaved changes').waitFor();
    await button('Save draft').click();
    await status('draft v3').waitFor();
  });

  it('prices it by a rule set that is bound to it, with rules in their order', async () => {
    await opened.goTo('Rules');
    await page
      .getByRole('region', { name: NAME })
      .getByRole('button', { name: 'Add pricing rule set' })
      .click();
    await page.getByRole('dialog').getByLabel('Name').fill('Contract');
    await button('Create draft').click();
    await page.getByRole('link', { name: NAME }).waitFor();
    for (const name of ['first', 'second']) {
      await button('Add rule').click();
      const fields = page.getByRole('listitem').last();
      await fields.getByLabel('Metric').fill('llm.tokens');
      await fields.getByLabel('Name').fill(name);
      await fields.getByLabel('Price model').selectOption('Expression');
      await fields.getByRole('textbox', { name: 'Amount' }).fill('item.quantity');
    }
    await button('Move second').focus();
    await page.keyboard.press('Tab');
    await entry('second').and(page.locator(':focus')).waitFor();
    await putFirst(page, 'second');
    await page.getByText('second was dropped at position 1').waitFor({ state: 'attached' });
    for (const direction of ['down', 'up']) {
      await page.getByRole('button', { name: 'Actions for second' }).click();
      await page.getByRole('menuitem', { name: `Move ${direction}` }).click();
    }
    await button('Save draft').click();
    await status('unsaved changes').waitFor({ state: 'detached' });
    const titles = await page.getByRole('region', { name: 'Rules' }).getByRole('listitem').allInnerTexts();
    expect(titles.map((text) => text.split('\n')[0])).toEqual(['second', 'first']);
    await page.getByRole('link', { name: NAME }).click();
    await page.getByText('not published yet: Contract').waitFor();
    expect(await page.getByText('priced by').count()).toBe(0);
    await page.getByRole('link', { name: 'Contract' }).click();
    await publish(1);
    opened.problems.splice(0);
  });

  it('warns about a rule for a metric that the extractor rule set does not make, until it is mended', async () => {
    const warnings = page.getByRole('region', { name: 'Saved, with warnings' });
    const metric = page.getByRole('listitem').filter({ hasText: 'second' }).getByLabel('Metric');
    await entry('second').click();
    await metric.fill('llm.tokns');
    await button('Save draft').click();
    await warnings.getByText('produces no charge items of the metric llm.tokns').waitFor();
    // The rules are checked with each change, which saves nothing.
    const checked = page.waitForResponse(/\/rules\/test$/);
    await metric.fill('llm.tokens');
    await checked;
    await button('Save draft').and(page.locator(':enabled')).waitFor();
    expect(await warnings.count()).toBe(1);
    await button('Save draft').click();
    await warnings.waitFor({ state: 'detached' });
    opened.problems.splice(0);
  });

  it('archives, and says beforehand what that ends', async () => {
    await page.getByRole('link', { name: NAME }).click();
    await page.getByText('priced by Contract').waitFor();
    await button('Actions for this rule set').click();
    await page.getByRole('menuitem', { name: 'Archive…' }).click();
    await page
      .getByRole('dialog')
      .getByText(`Its pricing rule sets stay active: ${isolated('Contract')}.`)
      .waitFor();
    await button('Archive permanently').click();
    await page.getByText('Archived rule sets cannot be changed.').waitFor();
    expect(await button('Save draft').count()).toBe(0);
  });

  it('fits a narrow screen', async () => {
    await page.setViewportSize(NARROW);
    for (const name of ['Versions', 'Test', 'Backtest', 'Edit']) {
      await tab(name).click();
      expect(await page.evaluate('document.documentElement.scrollWidth'), name).toBeLessThanOrEqual(
        NARROW.width,
      );
    }
    await page.setViewportSize(WIDE);
  });

  it('breaks no content policy, logs no error and loads nothing from elsewhere', () => {
    expect(opened.problems).toEqual([]);
  });
});
