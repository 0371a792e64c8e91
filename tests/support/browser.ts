import sparticuz from '@sparticuz/chromium';
import { type Browser, chromium, type Page } from 'playwright-core';
import { sharedScratchFolder } from '../../packages/service/src/testing/scratch-folder.js';

/** The packaged Chromium is built for this platform alone. */
export const hasBrowser = process.platform === 'linux' && process.arch === 'x64';

/** Starts the Chromium that comes as an npm package, without a window. */
export async function launchBrowser(): Promise<Browser> {
  const folder = await sharedScratchFolder('browser', unpackInto);
  // Not the arguments of the package, which are for places without processes and lift the web's own rules.
  return chromium.launch({
    executablePath: await unpackInto(folder),
    args: ['--no-sandbox', '--disable-gpu'],
    headless: true,
  });
}

/**
 * Collects errors of the page and its requests to other hosts from now on, in one list for all pages that share
 * it; a test expects it to be empty at the end.
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

/**
 * Returns the path of the program, and unpacks it, in seconds, if it is not there. The package unpacks to a fixed name
 * below the temporary folder, where anybody may have put a program of that name.
 */
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
