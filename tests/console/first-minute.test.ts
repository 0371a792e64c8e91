import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import type { CreatedApiKey, ExtractorTemplateList, RulesTestResult, Tenant } from '@tollgate/contract';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { matchesOf } from '../../packages/console/src/features/rules/templates/match.js';
import { hasBrowser, type OpenConsole, openConsole } from '../support/console.js';

const HOSTILE_NAME = 'Chat <img src=x onerror=alert(1)>';
const MODEL = 'gpt-first-minute';

describe.runIf(hasBrowser)('the first minute', () => {
  let opened: OpenConsole;
  let page: Page;
  let key: string;

  beforeAll(async () => {
    opened = await openConsole({ events: 1 });
    ({ page } = opened);
    const tenant = await asService<Tenant>('/admin/v1/tenants', { name: 'Newcomer' });
    const body = { name: 'Admin', permissions: ['tenant:admin'] };
    ({ key } = await asService<CreatedApiKey>(`/admin/v1/tenants/${tenant.id}/api-keys`, body));
  });
  afterAll(() => opened?.close());

  async function asService<Answer>(path: string, body: object): Promise<Answer> {
    const response = await fetch(opened.service.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${opened.service.serviceKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return (await response.json()) as Answer;
  }

  const step = (title: string) => page.getByRole('region', { name: title });
  const result = () => page.getByRole('region', { name: 'Result' });

  it('knows every sample of a template as one of that template', async () => {
    const { templates } = await readTemplates(opened);
    const path = `/v1/projects/${opened.tenant.projectId}/rules/test`;
    for (const { id, samples } of templates) {
      for (const { raw_json, title } of samples) {
        const trials = templates.map(async (template) => {
          const body = { extractor: { template_id: template.id }, event: { raw_json } };
          return { template, result: await asService<RulesTestResult>(path, body) };
        });
        const [best] = matchesOf(raw_json, await Promise.all(trials));
        expect(`${title}: ${best?.template.id}`).toBe(`${title}: ${id}`);
      }
    }
  });

  it('makes the first project of a tenant', async () => {
    await page.goto(`${opened.service.url}/sign-in`);
    await page.getByLabel('API key').fill(key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByLabel('Project name').fill('production');
    await page.getByRole('button', { name: 'Create project' }).click();
    await page.getByRole('heading', { name: 'Define what to charge (now)' }).waitFor();
    await page.getByRole('heading', { name: 'Send an event (later)' }).waitFor();
  });

  it('finds the template that reads a pasted event, and makes a rule set of it', async () => {
    const pasted = await chatCompletion(opened);
    const editor = page.getByRole('textbox', { name: 'Sample event as JSON' });
    await replaceText(editor, '{"nobody": "reads this"}');
    await page.getByText('No template matches this event').waitFor();
    await replaceText(editor, pasted);
    await page.getByRole('button', { name: /^OpenAI Chat Completions .*best match/ }).waitFor();
    const preview = page.getByRole('region', { name: 'OpenAI Chat Completions' });
    await preview.getByRole('row', { name: 'Output tokens 10 token' }).waitFor();
    await page.getByLabel('Name').fill(HOSTILE_NAME);
    await page.getByText('Prices (optional').click();
    await page.getByLabel('Output tokens', { exact: true }).fill('0.5');
    await page.getByRole('button', { name: 'Create rule set' }).press('Enter');
    await page.getByRole('heading', { name: 'Define what to charge (done)' }).waitFor();
    // The button is gone; who goes by the keyboard is at the next step.
    await page.locator(':focus').getByText('(now)').waitFor({ state: 'attached' });
    await page.getByRole('link', { name: HOSTILE_NAME }).waitFor();
  });

  it('shows an event that failed, and why', async () => {
    await page.getByText('Waiting for the first event').waitFor();
    await page.getByRole('button', { name: 'Create API key' }).click();
    await page.getByText('The command contains a new API key').waitFor();
    const command = await shownCommand(page);
    const hourAgo = command.replace(/"occurred_at": (\d+)/, (_, now) => `"occurred_at": ${now - 3_600}`);
    await runCommand(hourAgo.replace('"model":', '"exact": 12345678901234567890.5, "no_model":'));
    await step('Send an event').getByText('1 event failed').waitFor();
    expect(await step('Send an event').getByRole('link').getAttribute('href')).toContain('status=failed');
  });

  it('shows a command that works as it is pasted, and sees its event arrive', async () => {
    expect(await runCommand(await shownCommand(page))).toMatchObject({ status: 'received' });
    await page.getByRole('heading', { name: 'Send an event (done)' }).waitFor();
    await page.getByText('Received 2 events').waitFor();
  });

  it('makes a board of what was received, and draws it', async () => {
    await page.getByRole('button', { name: 'Create board' }).click();
    const amount = page.getByRole('region', { name: 'Amount by model' });
    await amount.locator('canvas').waitFor();
    await amount.getByText(MODEL).first().waitFor();
    await page.getByRole('region', { name: 'Usage by metric' }).locator('canvas').waitFor();
  });

  it('shows the steps again, all ticked off', async () => {
    await opened.goTo('Boards');
    await page.getByRole('link', { name: 'First steps' }).click();
    await page.getByRole('heading', { name: 'See your first chart (done)' }).waitFor();
  });

  it('tries rules on the newest event, and on what is typed', async () => {
    await page.getByRole('link', { name: HOSTILE_NAME }).click();
    await page.getByRole('link', { name: 'Test', exact: true }).click();
    const editor = page.getByRole('textbox', { name: 'Event as JSON' });
    await editor.getByText(MODEL).waitFor();
    await result().getByText('0.5', { exact: true }).waitFor();
    await result().getByRole('row', { name: 'Total in USD 5 USD' }).waitFor();
    // More digits than a double holds: they are sent as they were typed.
    await replaceText(editor, '{"model": "typed", "usage": {"completion_tokens": 9007199254740993}}');
    await result().getByText('9,007,199,254,740,993').waitFor();
    await replaceText(editor, '{"model": ');
    await page.getByText('Invalid JSON at').waitFor();
    await page.getByLabel('Received events').selectOption({ index: 2 });
    await result().getByText('dimension_missing').first().waitFor();
    await editor.getByText('12345678901234567890.5').waitFor();
  });

  it('compares with what is published', async () => {
    await replaceText(page.getByRole('textbox', { name: 'Event as JSON' }), await chatCompletion(opened));
    await page.getByRole('button', { name: 'Compare with the published version' }).click();
    await page.getByText('The results are the same.').waitFor();
  });

  it('rates stored usage by the draft before it is published', async () => {
    await page.getByRole('link', { name: 'Backtest', exact: true }).click();
    await page.getByRole('button', { name: 'Start backtest' }).click();
    await page.getByText('0 of 2 events would change.').waitFor();
    await page.getByRole('table').getByText('succeeded').waitFor();
  });

  it('makes a rule set of a template that is chosen by its name', async () => {
    await opened.goTo('Rules');
    await page.getByRole('button', { name: 'New rule set' }).click();
    await page.getByRole('menuitem', { name: 'From a template' }).click();
    await page.getByRole('button', { name: /^HTTP requests/ }).click();
    await page.getByRole('button', { name: 'Try this sample' }).click();
    await page.getByRole('row', { name: 'Bytes sent 20,480 byte' }).waitFor();
    await page.getByRole('button', { name: 'Create rule set' }).click();
    await page.waitForURL(/\/rules\/extractor\//);
    await page.getByRole('heading', { name: 'Rules / HTTP requests' }).waitFor();
  });

  it('says how to begin with limits while the project has no route', async () => {
    await opened.goTo('Limits');
    await page.getByRole('heading', { name: 'No limits yet' }).waitFor();
    await page.getByRole('main').getByRole('link', { name: 'limit plan', exact: true }).click();
    await page.getByRole('heading', { name: 'No limit plans yet' }).waitFor();
  });

  it('breaks no content policy, logs no error and loads nothing from elsewhere', () => {
    expect(opened.problems).toEqual([]);
  });
});

async function readTemplates({ service, tenant }: OpenConsole): Promise<ExtractorTemplateList> {
  const headers = { authorization: `Bearer ${tenant.key}` };
  const answer = await fetch(`${service.url}/v1/extractor-templates`, { headers });
  return (await answer.json()) as ExtractorTemplateList;
}

/** The last chunk of a stream of a well-known provider, of a model of our own. */
async function chatCompletion(opened: OpenConsole): Promise<string> {
  const { templates } = await readTemplates(opened);
  const sample = templates
    .find(({ id }) => id === 'openai_chat_completions')
    ?.samples.find(({ title }) => title === 'The last chunk of a stream');
  return JSON.stringify({ ...sample?.raw_json, model: MODEL, note: "it's $HOME" }, null, 2);
}

async function replaceText(editor: Locator, text: string): Promise<void> {
  await editor.click();
  await editor.press('ControlOrMeta+a');
  await editor.page().keyboard.insertText(text);
}

async function shownCommand(page: Page): Promise<string> {
  return (await page.getByRole('region', { name: 'Command' }).textContent()) ?? '';
}

const hasCurl = spawnSync('curl', ['--version']).status === 0;

/** Pastes a command into a shell; where there is no curl, sends what it says. */
async function runCommand(command: string): Promise<unknown> {
  if (hasCurl) {
    const { stdout } = await promisify(execFile)('sh', ['-c', command]);
    return JSON.parse(stdout);
  }
  const words = (command.replaceAll('\\\n', ' ').match(/'[^']*'|[^\s']+/g) ?? []).map((word) =>
    word.replace(/^'|'$/g, ''),
  );
  const headers = words.filter((_, index) => words[index - 1] === '-H').map((header) => header.split(': '));
  const url = words.find((word) => word.startsWith('http')) ?? '';
  const response = await fetch(url, {
    method: 'POST',
    headers: Object.fromEntries(headers),
    body: words.at(-1) ?? '',
  });
  return response.json();
}
