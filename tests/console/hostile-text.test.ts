import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser, type OpenConsole, openConsole } from '../support/console.js';
import { type HostileProject, writeHostileProject } from '../support/hostile-project.js';
import { HOSTILE_TEXTS, HostileWriter, MARKER } from '../support/hostile-text.js';
import { HostileWalk } from '../support/hostile-walk.js';

/** The browser's message about a response that refuses the typed text. */
const REFUSED = /^Failed to load resource: .* status of (400|404|409|422)/;

/** Some of the dialogs that open on the way, and fewer fields than there are: the walk finds its way. */
const DIALOGS = [
  ...['New board', 'New chart', 'Event', 'New rule set', 'Open a budget lease', 'New route', 'New account'],
  ...['Add credit', 'New endpoint', 'New project', 'New API key'],
];
const FIELDS_MIN = 40;

describe.runIf(hasBrowser)('text that would run', () => {
  const writer = new HostileWriter();
  let opened: OpenConsole;
  let page: Page;
  let written: HostileProject;
  let walk: HostileWalk;

  beforeAll(async () => {
    opened = await openConsole({ events: 1 });
    ({ page } = opened);
    written = await writeHostileProject(opened, writer);
    await page.addInitScript({ content: MARKER });
    walk = new HostileWalk(page, writer, `/p/${written.id}`);
    await opened.signIn();
  });
  afterAll(() => opened?.close());

  it('is many texts, each another', () => {
    expect(new Set(HOSTILE_TEXTS).size).toBe(HOSTILE_TEXTS.length);
  });

  it('stays text on every page, in all that opens from it, and in every field', async () => {
    for (const path of written.paths) await walk.visit(path);
    await walk.visitTheRest();
    expect(walk.findings).toEqual([]);
    expect([...walk.dialogs]).toEqual(expect.arrayContaining(DIALOGS));
    expect(walk.fields.size).toBeGreaterThan(FIELDS_MIN);
  }, 180_000);

  it('is seen, wherever it was written', () => {
    expect([...writer.unseenFields]).toEqual([]);
    expect([...writer.unseenTexts]).toEqual([]);
  });

  it('breaks no content policy, and nothing is asked for elsewhere', () => {
    expect(opened.problems.filter((problem) => !REFUSED.test(problem))).toEqual([]);
  });
});
