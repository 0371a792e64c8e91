import {
  PRICING_CURRENCY_DEFAULT,
  PRICING_RULES_MAX,
  type PricingRuleSet,
  type PricingRuleSetInput,
} from '@tollgate/contract';
import { ApiError, ConnectionError, type ProjectClient, TollgateClient } from '@tollgate/sdk';
import { type ConvertedTable, convertPriceTable, PriceTableError } from '../../modules/rules/index.js';
import { StartError } from '../start-error.js';
import { counted, describeConversion } from './describe-conversion.js';
import type { Destination, PricesImport, RuleSetFields } from './options.js';
import { readPriceFile } from './price-file.js';

const NAME_DEFAULT = 'Imported model prices';

/**
 * `tollgate prices import`: makes a pricing rule set, or the next version of one, of a table of model prices. What it does not
 * convert goes to standard error. Answers the exit code.
 * @throws StartError
 */
export async function importPrices(wanted: PricesImport): Promise<number> {
  const { file, destination, ruleSet } = wanted;
  const converted = convert(wanted, await readPriceFile(file));
  console.error(describeConversion(converted));
  refuseUnfit(file, converted);
  if (destination.kind === 'print') {
    const input = inputOf(destination.extractorRuleSetId, ruleSet, converted);
    console.log(JSON.stringify(input, null, 2));
  } else {
    await send(destination, ruleSet, converted);
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

/** @throws StartError for what makes no pricing rule set, or one that leaves something unpriced by mistake */
function refuseUnfit(file: string, { rules, priced, refused }: ConvertedTable): void {
  if (refused.size > 0) {
    throw new StartError(`${file} has prices that cannot be right: correct them, or choose other models.`);
  }
  if (rules.length === 0) {
    throw new StartError(`${file} has no price by the token for the models that were asked for.`);
  }
  if (rules.length > PRICING_RULES_MAX) {
    throw new StartError(
      `${file} makes ${counted(rules.length, 'rule')} for ${counted(priced.length, 'model')}, and a pricing rule set ` +
        `holds at most ${PRICING_RULES_MAX}: choose with --models 'gpt-5*,claude-*' or --provider openai.`,
    );
  }
}

/** The body of a create or an update; what the command line does not say stays as in `known`. */
function inputOf(
  extractorRuleSetId: string,
  { name, currency, effectiveFrom }: RuleSetFields,
  { rules, aliases }: Pick<ConvertedTable, 'rules' | 'aliases'>,
  known?: PricingRuleSet,
): PricingRuleSetInput {
  return {
    extractor_rule_set_id: extractorRuleSetId,
    name: name ?? known?.name ?? NAME_DEFAULT,
    currency: currency ?? known?.currency ?? PRICING_CURRENCY_DEFAULT,
    ...(effectiveFrom !== undefined && { effective_from: effectiveFrom }),
    rules: [...rules],
    ...(aliases.length > 0 && { aliases: [...aliases] }),
  };
}

type ServiceDestination = Exclude<Destination, { kind: 'print' }>;

async function send(
  destination: ServiceDestination,
  fields: RuleSetFields,
  { rules, aliases }: Pick<ConvertedTable, 'rules' | 'aliases'>,
): Promise<void> {
  const { url, apiKey, projectId, isPublished } = destination;
  const project = new TollgateClient({ baseUrl: url, apiKey }).project(projectId);
  const saved = await answered('The prices were not saved', () =>
    save(project, destination, fields, { rules, aliases }),
  );
  const what = `pricing rule set ${saved.id}, version ${saved.version}`;
  console.log(`Saved ${what}: ${counted(saved.rules.length, 'rule')} in ${saved.currency}.`);
  if (!isPublished) {
    console.log('It is a draft, and prices nothing before it is published.');
    return;
  }
  const published = await answered(`The draft of ${what} was not published`, () =>
    project.pricingRuleSets.publish(saved.id),
  );
  console.log(`Published it: it prices events that occur from ${published.effective_from} on.`);
}

async function save(
  project: ProjectClient,
  destination: ServiceDestination,
  fields: RuleSetFields,
  { rules, aliases }: Pick<ConvertedTable, 'rules' | 'aliases'>,
): Promise<PricingRuleSet> {
  if (destination.kind === 'create') {
    return project.pricingRuleSets.create(
      inputOf(destination.extractorRuleSetId, fields, { rules, aliases }),
    );
  }
  const { pricingRuleSetId } = destination;
  const known = await project.pricingRuleSets.get(pricingRuleSetId);
  const extractorRuleSetId = destination.extractorRuleSetId ?? known.extractor_rule_set_id;
  return project.pricingRuleSets.update(
    pricingRuleSetId,
    inputOf(extractorRuleSetId, fields, { rules, aliases }, known),
  );
}

/** @throws StartError that begins with what did not happen */
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
