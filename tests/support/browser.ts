import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sparticuz from '@sparticuz/chromium';
import { type Browser, chromium, type Page } from 'playwright-core';

/** The packaged Chromium is built for this platform alone. */
export const hasBrowser = process.platform === 'linux' && process.arch === 'x64';

export interface LaunchedBrowser {
  readonly browser: Browser;
  /** Ends the browser and deletes what it was unpacked to. */
  close(): Promise<void>;
}

/** Starts the Chromium that comes as an npm package, without a window. */
export async function launchBrowser(): Promise<LaunchedBrowser> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-browser-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const executablePath = await unpackInto(folder);
    // Not the arguments of the package, which are for places without processes and lift the web's own rules.
    const browser = await chromium.launch({
      executablePath,
      args: ['--no-sandbox', '--disable-gpu'],
      headless: true,
    });
    return { browser, close: () => browser.close().finally(remove) };
  } catch (error) {
    remove();
    throw error;
  }
}

/**
 * What the page complains of, or asks for elsewhere, from now on, with what others of the same list do; a test looks at the end that
 * there was nothing.
 */
export function problemsOf(page: Page, serviceUrl: string, problems: string[] = []): string[] {
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('request', (request) => {
    const url = request.url();
    if (!/^(data|blob|about):/.test(url) && !url.startsWith(serviceUrl)) problems.push(`asked for ${url}`);
  });
  return problems;
}

/** The package unpacks to a fixed name below the temporary folder, where anybody may have put a program of that name. */
async function unpackInto(folder: string): Promise<string> {
  const before = process.env.TMPDIR;
  process.env.TMPDIR = folder;
  try {
    return await sparticuz.executablePath();
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
}
