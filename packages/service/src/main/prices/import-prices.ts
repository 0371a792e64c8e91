import {
  LIST_LIMIT_MAX,
  PRICING_ALIASES_MAX,
  PRICING_PURPOSE_DEFAULT,
  PRICING_RULE_SETS_IN_FORCE_MAX,
  PRICING_RULES_MAX,
  type PricingRuleSet,
} from '@tollgate/contract';
import { ApiError, ConnectionError, type ProjectClient, TollgateClient } from '@tollgate/sdk';
import {
  type ConvertedTable,
  convertPriceTable,
  PROMPT_SIZE,
  PriceTableError,
} from '../../modules/rules/index.js';
import { StartError } from '../start-error.js';
import { counted, describeConversion } from './describe-conversion.js';
import type { Destination, PricesImport } from './options.js';
import { findEarlierImport, importName, type PlannedRuleSet, planImport } from './plan-import.js';
import { readPriceFile } from './price-file.js';

/**
 * `tollgate prices import`: creates or updates pricing rule sets from a table of model prices.
 * A report of prices that it does not convert goes to standard error. Returns the exit code.
 * @throws StartError
 */
export async function importPrices(wanted: PricesImport): Promise<number> {
  const { file, destination } = wanted;
  const converted = convert(wanted, await readPriceFile(file));
  console.error(describeConversion(converted, wanted.promptTokensDimension));
  refuseUnfit(file, converted);
  if (destination.kind === 'print') {
    const fields = { ...wanted.ruleSet, name: importName(wanted) };
    const planned = bounded(file, planImport(converted.models, destination.extractorRuleSetId, fields));
    for (const { input } of planned) console.log(JSON.stringify(input, null, 2));
  } else {
    await send(destination, wanted, converted);
  }
  return 0;
}

function convert({ file, ...options }: PricesImport, table: unknown): ConvertedTable {
  try {
    return convertPriceTable(table, options);
  } catch (error) {
    if (!(error instanceof PriceTableError)) throw error;
    throw new StartError(`${file} ${error.message}.`);
  }
}

/** @throws StartError for a table that makes no pricing rule set, or one that leaves something unpriced by mistake */
function refuseUnfit(file: string, { models, refused }: ConvertedTable): void {
  if (refused.size > 0) {
    throw new StartError(`${file} has invalid prices, listed above. Correct them, or choose other models.`);
  }
  if (models.length === 0) {
    throw new StartError(`${file} has no price per token for the requested models.`);
  }
}

/** @throws StartError for more rule sets than can be active together */
function bounded(file: string, planned: PlannedRuleSet[]): PlannedRuleSet[] {
  if (planned.length > PRICING_RULE_SETS_IN_FORCE_MAX) {
    throw new StartError(
      `${file} makes ${planned.length} pricing rule sets, and at most ${PRICING_RULE_SETS_IN_FORCE_MAX} can price one ` +
        "extractor rule set: choose with --models 'gpt-5*,claude-*' or --provider openai.",
    );
  }
  return planned;
}

type ServiceDestination = Exclude<Destination, { kind: 'print' }>;

async function send(
  destination: ServiceDestination,
  wanted: PricesImport,
  converted: ConvertedTable,
): Promise<void> {
  const { url, apiKey, projectId, isPublished } = destination;
  const project = new TollgateClient({ baseUrl: url, apiKey }).project(projectId);
  const planned = await answered('The prices were not saved', () =>
    destination.kind === 'create'
      ? planCreate(project, destination, wanted, converted)
      : planUpdate(project, destination, wanted, converted),
  );
  let changes = 0;
  const saved: { ruleSet: PricingRuleSet; isOverfull: boolean }[] = [];
  const created: PricingRuleSet[] = [];
  for (const { known, input, isSaved, isOverfull } of planned) {
    const ruleSet =
      isSaved && known !== undefined
        ? known
        : await answered(`The prices of "${input.name}" were not saved`, () =>
            known === undefined
              ? project.pricingRuleSets.create(input)
              : project.pricingRuleSets.update(known.id, input),
          );
    saved.push({ ruleSet, isOverfull });
    if (known === undefined) created.push(ruleSet);
    if (!isSaved) changes += 1;
    const what = `${described(ruleSet)}: ${counted(ruleSet.rules.length, 'rule')} in ${ruleSet.currency}`;
    console.log(isSaved ? `Unchanged: ${what}.` : `Saved ${what}.`);
  }
  if (destination.kind === 'create') await withdrawTwins(project, created);
  const extractorRuleSetId = planned[0]?.input.extractor_rule_set_id;
  if (converted.promptSizes.length > 0 && extractorRuleSetId !== undefined)
    await warnWithoutPromptSize(project, extractorRuleSetId, wanted.promptTokensDimension);
  const drafts = saved.filter(({ ruleSet }) => ruleSet.status === 'draft');
  if (isPublished) {
    await publish(project, drafts);
    changes += drafts.length;
  } else if (drafts.length > 0) {
    console.log(
      drafts.length === 1
        ? 'It is a draft, and has no effect until it is published.'
        : `${drafts.length} of them are drafts, and have no effect until they are published.`,
    );
  }
  if (changes === 0) console.log('Nothing has changed: the prices are already up to date.');
}

/**
 * Rule sets keep the rules of their template from when they were created: one of an earlier release has no size of the
 * prompt.
 */
async function warnWithoutPromptSize(project: ProjectClient, id: string, dimension: string): Promise<void> {
  const extractor = await answered('The prices were saved, but their extractor rule set was not read', () =>
    project.extractorRuleSets.get(id),
  );
  if (extractor.dimensions.some(({ name, type }) => name === dimension && type === 'number')) return;
  console.error(
    `The extractor rule set ${id} has no number dimension ${dimension}: larger prompts are charged the base price until it has. ` +
      (dimension === PROMPT_SIZE
        ? 'Copy the dimension from its template.'
        : 'Add it, or choose another dimension.'),
  );
}

/**
 * Archives new rule sets when others have their names: then another import ran at the same time, and neither could see
 * the rule sets of the other one in its plan. The one that looks last finds both.
 *
 * @throws StartError if there are others
 */
async function withdrawTwins(project: ProjectClient, created: readonly PricingRuleSet[]): Promise<void> {
  const [first] = created;
  if (first === undefined) return;
  const { extractor_rule_set_id, purpose } = first;
  await answered('The prices were saved, but not checked for another import', async () => {
    const own = new Set(created.map(({ id }) => id));
    const others = (await listAll(project, { extractor_rule_set_id, purpose })).filter(
      ({ id, name, status }) =>
        !own.has(id) && status !== 'archived' && created.some((ruleSet) => ruleSet.name === name),
    );
    if (others.length === 0) return;
    for (const { id } of created) await project.pricingRuleSets.archive(id);
    throw new StartError(
      `Another import created pricing rule sets named "${first.name}" at the same time (${others.map(({ id }) => id).join(', ')}), ` +
        'so those of this import were archived: run the command again.',
    );
  });
}

/** Rule sets that lost a model are published last, so that the model always has an active price. */
async function publish(
  project: ProjectClient,
  drafts: readonly { ruleSet: PricingRuleSet; isOverfull: boolean }[],
): Promise<void> {
  for (const { ruleSet } of drafts.toSorted((a, b) => Number(a.isOverfull) - Number(b.isOverfull))) {
    const published = await answered(`The draft of ${described(ruleSet)} was not published`, () =>
      project.pricingRuleSets.publish(ruleSet.id),
    );
    const what = drafts.length === 1 ? 'it' : ruleSet.id;
    console.log(`Published ${what}: it applies to events from ${published.effective_from} on.`);
  }
}

function described({ id, version }: PricingRuleSet): string {
  return `pricing rule set ${id}, version ${version}`;
}

/** An import with the same name updates the rule sets that it made before. */
async function planCreate(
  project: ProjectClient,
  { extractorRuleSetId, isPublished }: ServiceDestination & { kind: 'create' },
  wanted: PricesImport,
  { models }: ConvertedTable,
): Promise<PlannedRuleSet[]> {
  const name = importName(wanted);
  const bound = { extractor_rule_set_id: extractorRuleSetId };
  const { purpose = PRICING_PURPOSE_DEFAULT } = wanted.ruleSet;
  const earlier = findEarlierImport(name, await listAll(project, { ...bound, purpose }));
  const planned = planImport(models, extractorRuleSetId, { ...wanted.ruleSet, name }, earlier);
  bounded(wanted.file, planned);
  if (isPublished) {
    const published = await listAll(project, { ...bound, status: 'published' });
    const ours = new Set(planned.map(({ known }) => known?.id));
    const others = published.filter(({ id }) => !ours.has(id)).length;
    if (others + planned.length > PRICING_RULE_SETS_IN_FORCE_MAX) {
      throw new StartError(
        `The import needs ${counted(planned.length, 'pricing rule set')}, ${extractorRuleSetId} has ${others} other active ones, and ${PRICING_RULE_SETS_IN_FORCE_MAX} is the maximum: archive some, or choose fewer models.`,
      );
    }
  }
  return planned;
}

async function listAll(
  project: ProjectClient,
  query: Parameters<ProjectClient['pricingRuleSets']['list']>[0],
): Promise<PricingRuleSet[]> {
  const ruleSets: PricingRuleSet[] = [];
  for (;;) {
    const page = await project.pricingRuleSets.list({
      ...query,
      limit: LIST_LIMIT_MAX,
      offset: ruleSets.length,
    });
    ruleSets.push(...page.pricing_rule_sets);
    if (page.pricing_rule_sets.length === 0 || ruleSets.length >= page.total_count) return ruleSets;
  }
}

async function planUpdate(
  project: ProjectClient,
  { pricingRuleSetId, extractorRuleSetId }: ServiceDestination & { kind: 'update' },
  { file, ruleSet }: PricesImport,
  { models }: ConvertedTable,
): Promise<PlannedRuleSet[]> {
  const known = await project.pricingRuleSets.get(pricingRuleSetId);
  const fields = { ...ruleSet, name: ruleSet.name ?? known.name };
  const planned = planImport(models, extractorRuleSetId ?? known.extractor_rule_set_id, fields, [known]);
  if (planned.length > 1) {
    throw new StartError(
      `${file} makes more for ${counted(models.length, 'model')} than the ${PRICING_RULES_MAX} rules and ${PRICING_ALIASES_MAX} ` +
        'aliases of one pricing rule set: leave --update out to divide them over several, or choose fewer models.',
    );
  }
  return planned;
}

/** @throws StartError that begins with what was not done */
async function answered<T>(otherwise: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof ApiError) throw new StartError(`${otherwise}: ${refusalOf(error)}`);
    if (error instanceof ConnectionError) throw new StartError(`${otherwise}: ${error.message}.`);
    throw error;
  }
}

const HINTS: Readonly<Record<number, string>> = {
  401: ' Set TOLLGATE_API_KEY to a key of this service.',
  403: ' The key needs rules:write in this project.',
  404: ' Check --project and --update, and that the key may see them.',
};

function refusalOf({ status, code, message, details }: ApiError): string {
  const places = details.map((detail) => ` ${detail.path}: ${detail.message}.`).join('');
  return `the service answered ${status} ${code}. ${message}${places}${HINTS[status] ?? ''}`;
}
