import { describe, expect, it } from 'vitest';
import { curlOf, type IngestCommand } from './curl.js';

const COMMAND: IngestCommand = {
  origin: 'https://meter.example',
  projectId: 'prj_1',
  ruleSetId: 'ers_1',
  key: 'tg_live_1',
  occurredAt: 1_700_000_000,
  rawJson: '{\n  "tokens": 3\n}\n',
};

/** Splits a command of words and single quotes as a shell does; no other character means anything within quotes. */
function wordsOf(command: string): string[] {
  const words = command.replaceAll('\\\n', ' ').match(/'[^']*'|[^\s']+/g) ?? [];
  return words.map((word) => (word.startsWith("'") ? word.slice(1, -1) : word));
}

describe('curlOf', () => {
  it('sends the event to its rule set, with the key', () => {
    const words = wordsOf(curlOf(COMMAND));
    expect(words.slice(0, 4)).toEqual([
      'curl',
      '-X',
      'POST',
      'https://meter.example/v1/projects/prj_1/extractor-rule-sets/ers_1/events/ingest',
    ]);
    expect(words).toContain('Authorization: Bearer tg_live_1');
    expect(JSON.parse(words.at(-1) ?? '')).toEqual({
      source: 'first-minute',
      occurred_at: 1_700_000_000,
      raw_json: { tokens: 3 },
    });
  });

  it('says where the key belongs while there is none', () => {
    expect(curlOf({ ...COMMAND, key: undefined })).toContain('Bearer YOUR_API_KEY');
  });

  it.each(["it's", "'; rm -rf / #", '$(id) `id` $HOME !! \\', '"', '\\u0027'])(
    'lets the shell read nothing of an event: %s',
    (text) => {
      const words = wordsOf(curlOf({ ...COMMAND, rawJson: JSON.stringify({ text }, null, 2) }));
      expect(words).toHaveLength(10);
      expect(JSON.parse(words.at(-1) ?? '')).toMatchObject({ raw_json: { text } });
    },
  );
});
