import type { Locator, Page } from 'playwright-core';
import { BUTTONS, DIALOG, DIALOG_TITLE, DRAWN, LOOK, TYPE } from './hostile-scripts.js';
import { HOSTILE_TEXTS, type HostileWriter } from './hostile-text.js';

/** Buttons that act at once, do not belong to the page under test, or lead away. */
const NOT_PRESSED = /^(Close|Cancel|Copy|Sign out|Follow|Following|Refresh|Discard|Done|Stay|Leave|Back)\b/;
const OPENS_MORE = /^(Add|Show|Choose|More|New|Edit|Form|JSON)\b/;
const TIMEOUT_MS = 5_000;
/** A picture of a chart is drawn before the click is over. */
const CHOICE_TIMEOUT_MS = 30_000;
const SETTLED_MS_MAX = 30_000;
const LOADING = '[role=status][aria-busy=true]';
const WIDE = { width: 1_280, height: 900 };
const NARROW = { width: 360, height: 780 };

interface Seen {
  /** Text on the page. */
  readonly visible: string;
  /** The visible text, and titles, names of controls and values of fields. */
  readonly shown: string;
  readonly findings: readonly string[];
}

/** Goes through the console as somebody would who presses every button and types into every field. */
export class HostileWalk {
  /** Findings, in the words that a developer needs. */
  readonly findings: string[] = [];
  /** Titles of the dialogs that were open. */
  readonly dialogs = new Set<string>();
  readonly fields = new Set<string>();
  readonly #pending = new Set<object>();
  readonly #pressed = new Set<string>();
  #path = '';
  #typed = 0;

  constructor(
    readonly page: Page,
    readonly writer: HostileWriter,
    readonly base: string,
  ) {
    page.setDefaultTimeout(TIMEOUT_MS);
    page.on('request', (request) => {
      if (!request.url().includes('/stream')) this.#pending.add(request);
    });
    page.on('requestfinished', (request) => this.#pending.delete(request));
    page.on('requestfailed', (request) => this.#pending.delete(request));
    page.on('dialog', (dialog) => {
      if (dialog.type() !== 'beforeunload') this.findings.push(`dialog: ${dialog.message()}`);
      void dialog.accept();
    });
    page.on('popup', (popup) => this.findings.push(`popup: ${popup.url()}`));
  }

  /** A page with all that opens from it. */
  async visit(path: string): Promise<void> {
    await this.#go(path);
    await this.#look();
    await this.#lookAtItNarrow();
    for (const name of await this.#buttons('main')) {
      if (!this.#isNew(name)) continue;
      await this.#press('main', name);
      await this.#lookIntoWhatOpened(name);
      await this.#backTo(path);
    }
    await this.#typeInto('main');
    await this.#look();
  }

  async #lookAtItNarrow(): Promise<void> {
    await this.page.setViewportSize(NARROW);
    await this.page.evaluate(DRAWN);
    await this.#look();
    await this.page.setViewportSize(WIDE);
  }

  /** The names of all projects, and every event by its keys. */
  async visitTheRest(): Promise<void> {
    await this.#go('usage');
    await this.page.getByRole('button', { name: /^Project .*, switch project$/ }).click();
    await this.page.getByRole('menu').waitFor();
    await this.#look();
    await this.page.keyboard.press('Escape');
    await this.page.getByRole('region', { name: 'Events' }).locator('tbody button').first().click();
    for (let before = ''; before !== this.page.url(); ) {
      before = this.page.url();
      await this.#settle();
      await this.#look();
      await this.page.keyboard.press('j');
      await this.page.evaluate(DRAWN);
    }
  }

  /** Follows a link, as a person does, without loading the page again. */
  async #go(path: string): Promise<void> {
    this.#path = path;
    await this.page.evaluate(`history.pushState(null, '', '${this.base}/nowhere')`);
    await this.page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await this.page.evaluate(`history.pushState(null, '', ${JSON.stringify(`${this.base}/${path}`)})`);
    await this.page.getByRole('heading', { level: 1 }).first().waitFor();
    await this.#settle();
  }

  /** Nothing is on its way any more, and what came is drawn. */
  async #settle(): Promise<void> {
    const deadlineMs = performance.now() + SETTLED_MS_MAX;
    do {
      await this.page.evaluate(DRAWN);
      if (!(await this.#isLoading())) return;
    } while (performance.now() < deadlineMs);
    this.findings.push(`${this.#path}: still loading after ${SETTLED_MS_MAX} ms`);
  }

  async #isLoading(): Promise<boolean> {
    return this.#pending.size > 0 || (await this.page.locator(LOADING).count()) > 0;
  }

  async #look(): Promise<void> {
    const { visible, shown, findings } = await this.page.evaluate<Seen>(LOOK);
    this.writer.see(visible, shown);
    this.findings.push(...findings.map((finding) => `${this.#path}: ${finding}`));
  }

  /** Those that can be pressed, every kind of them once. */
  #buttons(within: string): Promise<string[]> {
    return this.page.evaluate<string[]>(`(${BUTTONS})(${JSON.stringify(within)}).map(({ kind }) => kind)`);
  }

  #isNew(name: string, where = this.#path.replace(/[a-z]+_[0-9A-Za-z]+|\?.*/g, ':')): boolean {
    const key = `${where} ${name}`;
    if (NOT_PRESSED.test(name) || this.#pressed.has(key)) return false;
    this.#pressed.add(key);
    return true;
  }

  /** An element that is still opening or closing may be in the way once. */
  async #press(within: string, name: string): Promise<void> {
    const isPressed = (await this.#click(within, name)) === undefined;
    if (!isPressed && within === 'main') {
      await this.#go(this.#path);
      const problem = await this.#click(within, name);
      if (problem !== undefined) this.findings.push(`${this.#path}: ${name} cannot be pressed: ${problem}`);
    }
    await this.#settle();
  }

  /** Returns what was in the way, if anything. */
  async #click(within: string, name: string): Promise<string | undefined> {
    const find = `(${BUTTONS})(${JSON.stringify(within)}).find(({ kind }) => kind === ${JSON.stringify(name)})?.button`;
    const button = (await this.page.evaluateHandle(find)).asElement();
    try {
      await button?.click();
      return undefined;
    } catch (error) {
      return String(error).split('\n')[0];
    }
  }

  async #lookIntoWhatOpened(name: string): Promise<void> {
    await this.#look();
    if ((await this.page.locator('[role=menu]').count()) > 0) return this.#menu(name);
    if ((await this.page.locator(DIALOG).count()) > 0) await this.#dialog();
  }

  async #menu(name: string): Promise<void> {
    const items = await this.page.getByRole('menuitem').allInnerTexts();
    // Items that change how the rest is shown come first in a menu: from its end, every item is met unchanged.
    for (const [index, item] of [...items.entries()].toReversed()) {
      const isThere = (await this.page.locator('[role=menu]').count()) > 0;
      if (!isThere) await this.#press('main', name);
      const choice = this.page.getByRole('menuitem').nth(index);
      if (!(await choice.isVisible()) || (await choice.getAttribute('aria-disabled')) !== null) continue;
      if (!this.#isNew(`${name} / ${item}`)) continue;
      await choice.click({ timeout: CHOICE_TIMEOUT_MS });
      await this.#settle();
      await this.#look();
      if ((await this.page.locator(DIALOG).count()) > 0) await this.#dialog();
      await this.#backTo(this.#path);
    }
    if ((await this.page.locator('[role=menu]').count()) > 0) await this.page.keyboard.press('Escape');
  }

  async #dialog(): Promise<void> {
    const title = await this.page.evaluate<string>(DIALOG_TITLE);
    this.dialogs.add(title);
    for (const name of await this.#buttons(DIALOG)) {
      if (OPENS_MORE.test(name) && this.#isNew(name, title)) await this.#press(DIALOG, name);
    }
    const count = await this.#typeInto(DIALOG);
    await this.#look();
    const submit = this.page.locator(`${DIALOG} button[type=submit]:enabled`);
    if (count > 0 && (await submit.count()) > 0) {
      await submit.first().click();
      await this.#settle();
      await this.#look();
    }
  }

  /**
   * Types every text into every field, as fast as possible; each must appear there as it was typed. Returns the number
   * of fields.
   */
  async #typeInto(within: string): Promise<number> {
    const last = this.#typed++ % HOSTILE_TEXTS.length;
    const texts = [...HOSTILE_TEXTS.slice(last), ...HOSTILE_TEXTS.slice(0, last)];
    const { names, changed } = await this.page.evaluate<{ names: string[]; changed: string[] }>(
      `(${TYPE})(${JSON.stringify(within)}, ${JSON.stringify(texts)})`,
    );
    for (const name of names) this.fields.add(`${this.#path.replace(/\?.*/, '')}: ${name}`);
    this.findings.push(...changed.map((change) => `${this.#path}: ${change}`));
    for (const editor of await this.page
      .locator(`${within} .cm-content[contenteditable=true]:visible`)
      .all()) {
      await this.#typeIntoEditor(editor, texts);
    }
    await this.#settle();
    return names.length;
  }

  async #typeIntoEditor(editor: Locator, texts: readonly string[]): Promise<void> {
    // Text typed into another editor may have removed this one.
    if (!(await editor.isVisible())) return;
    const name = (await editor.getAttribute('aria-label')) ?? '';
    if (!this.#isNew(`types ${name}`, 'editor')) return;
    for (const text of texts) {
      await editor.fill(text);
      const shown = ((await editor.textContent()) ?? '').replace(/[\u200b-\u202e\u2060\u2066-\u2069•]/g, '');
      if (shown !== text.replace(/[\u200b-\u202e\u2060\u2066-\u2069]/g, '')) {
        this.findings.push(`${this.#path}: ${name} made ${shown} of ${text}`);
      }
    }
    await this.page.keyboard.press('Escape');
  }

  /** Closes what is open, and comes back from wherever a button has led to. */
  async #backTo(path: string): Promise<void> {
    for (
      let attempt = 0;
      attempt < 3 && (await this.page.locator(`${DIALOG}, [role=menu]`).count()) > 0;
      attempt++
    ) {
      await this.page.keyboard.press('Escape');
      await this.page.evaluate(DRAWN);
    }
    const isOpen = (await this.page.locator(`${DIALOG}, [role=menu]`).count()) > 0;
    if (isOpen || !this.page.url().endsWith(`${this.base}/${path}`)) await this.#go(path);
  }
}
