import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sparticuz from '@sparticuz/chromium';
import { type Browser, chromium } from 'playwright-core';

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
    const browser = await chromium.launch({ executablePath, args: sparticuz.args, headless: true });
    return { browser, close: () => browser.close().finally(remove) };
  } catch (error) {
    remove();
    throw error;
  }
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
