import sparticuz from '@sparticuz/chromium';
import { type Browser, chromium } from 'playwright-core';

/** Starts the Chromium that comes as an npm package, without a window. */
export async function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: await sparticuz.executablePath(),
    args: sparticuz.args,
    headless: true,
  });
}
