import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, created } from './support/http.js';
import { createSampleProject, type SampleProject } from './support/sample-project.js';
import { type RunningService, startService } from './support/service.js';

let service: RunningService;
let sample: SampleProject;
beforeAll(async () => {
  service = await startService();
  sample = await createSampleProject(service);
});
afterAll(() => service?.stop());

/** Five hundred rules with expressions as long as a body of a megabyte has room for. */
function manyRules() {
  return Array.from({ length: 500 }, (_, at) => ({
    name: `rule ${at}`,
    metric: 'llm.input_tokens',
    match_expr: grown(`dimensions.model == "m${at}"`, (text, n) => `${text} || dimensions.model == "x${n}"`),
    unit_price_expr: grown('dec("0.1")', (text, n) => `dec_add(${text}, dec("0.${n}"))`),
  }));
}

function grown(start: string, grow: (text: string, n: number) => string): string {
  let text = start;
  for (let n = 1; grow(text, n).length <= 850; n += 1) text = grow(text, n);
  return text;
}

/** An event without any dimension, so that none of the rules matches. */
const EVENT = { raw_json: { model: 'none', usage: { input_tokens: 5 } } };

/**
 * Ticks of the processor that each thread of the service has used, by its id; the main thread has that of the
 * process.
 */
function usedByThread(): Map<number, number> {
  const folder = `/proc/${service.pid}/task`;
  return new Map(
    readdirSync(folder).map((id) => {
      const stat = readFileSync(`${folder}/${id}/stat`, 'latin1');
      // Behind the name, which is in brackets: fields 14 and 15 are user and system time.
      const [user = 0, system = 0] = stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .slice(11, 13)
        .map(Number);
      return [Number(id), user + system];
    }),
  );
}

const project = () => `/v1/projects/${sample.projectId}`;
const ask = (method: string, path: string, body: object) =>
  call(service, method, `${project()}${path}`, { key: sample.key, body });

describe('rules of a megabyte', () => {
  it.runIf(process.platform === 'linux')(
    'are tested, saved and backtested on another thread than the one that accepts',
    async () => {
      const { id } = await created(service, `${project()}/pricing-rule-sets`, {
        key: sample.key,
        body: { extractor_rule_set_id: sample.ruleSetId },
      });
      const askWith = async (rules: object[]) => [
        await ask('POST', '/rules/test', {
          extractor_rule_set_id: sample.ruleSetId,
          pricing: { rules },
          event: EVENT,
        }),
        await ask('PUT', `/pricing-rule-sets/${id}`, { extractor_rule_set_id: sample.ruleSetId, rules }),
        await ask('POST', '/rules/backtest', {
          extractor_rule_set_id: sample.ruleSetId,
          pricing: { rules },
          time_range: { last_seconds: 60 },
        }),
      ];
      // Schemas are compiled when they are first needed, and threads started.
      await askWith([]);
      const before = usedByThread();
      const answers = await askWith(manyRules());
      const after = usedByThread();
      expect(answers.map(({ status, text }) => (status === 200 ? status : text))).toEqual([200, 200, 200]);
      const used = new Map(
        Array.from(after, ([thread, ticks]) => [thread, ticks - (before.get(thread) ?? 0)]),
      );
      const accepting = used.get(service.pid) ?? Number.NaN;
      used.delete(service.pid);
      expect(Math.max(...used.values())).toBeGreaterThan(accepting);
    },
  );

  it('of eight tests at once delay no test of another tenant until they are done, nor an event', async () => {
    const other = await createSampleProject(service);
    const answered: string[] = [];
    const rules = manyRules();
    const note = async <Answer>(name: string, asked: Promise<Answer>): Promise<Answer> => {
      const answer = await asked;
      answered.push(name);
      return answer;
    };
    const testOf = ({ projectId, key, ruleSetId }: SampleProject, pricing: object[]) =>
      call(service, 'POST', `/v1/projects/${projectId}/rules/test`, {
        key,
        body: { extractor_rule_set_id: ruleSetId, pricing: { rules: pricing }, event: EVENT },
      });
    const loud = Array.from({ length: 8 }, () => note('loud', testOf(sample, rules)));
    const quiet = await note('quiet', testOf(other, []));
    expect(quiet.status).toBe(200);
    const sent = await call(
      service,
      'POST',
      `/v1/projects/${other.projectId}/extractor-rule-sets/${other.ruleSetId}/events/ingest`,
      { key: other.key, body: { source: 'test', occurred_at: Math.floor(Date.now() / 1_000), ...EVENT } },
    );
    expect(sent.status, sent.text).toBe(202);
    answered.push('event');
    expect((await Promise.all(loud)).map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(answered.at(-1)).toBe('loud');
  });

  it('that are being tested when the service stops do not hold it up', async () => {
    const testing = Array.from({ length: 16 }, () =>
      ask('POST', '/rules/test', {
        extractor_rule_set_id: sample.ruleSetId,
        pricing: { rules: manyRules() },
        event: EVENT,
      }).catch(() => undefined),
    );
    // The first response shows that the others run or wait.
    await Promise.race(testing);
    expect(await service.terminate()).toBe(0);
    await Promise.all(testing);
    expect(service.output).not.toMatch(/took more than| {4}at /);
    await service.start();
  });
});
