import { NAME_CHARS_MAX, type PricingAlias, type PricingRule } from '@tollgate/contract';
import { type ConvertedRow, convertRow, type PriceRow } from './convert-row.js';
import { modelIs } from './match-expression.js';
import { modelAliases, type TableModel } from './model-aliases.js';
import { type ModelSelection, matchesGlob } from './model-selection.js';

/** The table cannot be imported with these options; the message is one sentence with the reason. */
export class PriceTableError extends Error {
  override readonly name = 'PriceTableError';
}

export interface ConversionOptions extends ModelSelection {
  /** Number dimension with the size of the whole prompt in tokens; see {@link convertRow}. */
  readonly promptTokensDimension: string;
}

/** Models grouped by a common property, in the order of the table. */
export type ModelsBy = ReadonlyMap<string, readonly string[]>;

/** One model that has at least one rule. */
export interface ConvertedModel {
  readonly model: string;
  /** The `match_expr` of the rules that price the model by its name only. */
  readonly condition: string;
  readonly rules: readonly PricingRule[];
  /** Other names of the model. */
  readonly aliases: readonly PricingAlias[];
}

/** The chosen models with their rules, and everything about them that the rules do not contain. */
export interface ConvertedTable {
  readonly models: readonly ConvertedModel[];
  /** Models without any price per token. */
  readonly withoutTokenPrice: readonly string[];
  /** Prompt sizes, in tokens and ascending, above which some rules apply. */
  readonly promptSizes: readonly number[];
  /** By metric: models that are priced by a wider metric, e.g. cached input by the price of input. */
  readonly fallbacks: ModelsBy;
  /** By key of the table. */
  readonly leftOut: ModelsBy;
  /** Keys of the table itself that hold something other than a model, such as the time of its last change. */
  readonly notModels: readonly string[];
  /** By problem, e.g. `input_cost_per_token is negative`. */
  readonly refused: ModelsBy;
  /** By key: prices with more digits than are recorded. */
  readonly rounded: ModelsBy;
}

/** An entry that describes the fields of the others; its name is part of the format. */
const SAMPLE_ROW = 'sample_spec';
const NOT_IN_NAMES = /[\p{Cc}\p{Cs}]/u;

/**
 * Converts the table of model prices that LLM gateways share, parsed without loss: an object of models with their
 * prices in USD per token. The format is that of `model_prices_and_context_window.json` in github.com/BerriAI/litellm.
 * @throws PriceTableError when it is not such a table, or has no model that these options select
 */
export function convertPriceTable(table: unknown, options: ConversionOptions): ConvertedTable {
  if (!isObject(table)) throw new PriceTableError('is not a JSON object of models and their prices');
  const rows = Object.entries(table).filter(([model]) => model !== SAMPLE_ROW);
  const chosen = chooseRows(rows, options);
  const gathered = new Conversion();
  for (const [model, row] of chosen) gathered.add(model, row, options.promptTokensDimension);
  const names = new Set(chosen.map(([model]) => model));
  for (const [model, row] of rows) {
    if (!names.has(model)) gathered.addOther(model, row, options.promptTokensDimension);
  }
  return gathered.finish(names);
}

function isObject(value: unknown): value is PriceRow {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

type Row = readonly [model: string, row: unknown];

/** @throws PriceTableError for a pattern or a provider that selects nothing, because it is misspelt */
function chooseRows(rows: readonly Row[], { models, providers }: ModelSelection): readonly Row[] {
  const providerOf = ([, row]: Row) => (isObject(row) ? row.litellm_provider : undefined);
  const isNamed = (pattern: string) => rows.some(([model]) => matchesGlob(pattern, model));
  const unnamed = models.filter((pattern) => !isNamed(pattern));
  if (unnamed.length > 0) throw new PriceTableError(`has no model ${unnamed.map(quoted).join(', ')}`);
  const absent = providers.filter((provider) => !rows.some((row) => providerOf(row) === provider));
  if (absent.length > 0) throw new PriceTableError(`has no provider ${absent.map(quoted).join(', ')}`);
  const chosen = rows.filter(
    (row) =>
      (models.length === 0 || models.some((pattern) => matchesGlob(pattern, row[0]))) &&
      (providers.length === 0 || providers.some((provider) => providerOf(row) === provider)),
  );
  if (chosen.length === 0) throw new PriceTableError('has no model that these options select');
  return chosen;
}

const quoted = (text: string): string => `"${text}"`;

/** Collects the results of all rows. */
class Conversion implements Omit<ConvertedTable, 'models' | 'promptSizes'> {
  readonly #rulesByModel = new Map<string, readonly PricingRule[]>();
  readonly #priced: TableModel[] = [];
  readonly #others: TableModel[] = [];
  readonly #promptSizes = new Set<number>();
  readonly notModels: string[] = [];
  readonly withoutTokenPrice: string[] = [];
  readonly fallbacks = new Map<string, string[]>();
  readonly leftOut = new Map<string, string[]>();
  readonly refused = new Map<string, string[]>();
  readonly rounded = new Map<string, string[]>();

  add(model: string, row: unknown, promptTokensDimension: string): void {
    if (!isObject(row)) {
      this.notModels.push(model);
      return;
    }
    const fault = nameFault(model);
    if (fault !== undefined) note(this.refused, fault, model);
    else this.#addRow(model, row.litellm_provider, convertRow(model, row, promptTokensDimension));
  }

  /** Adds a model that is not imported, so that it does not get the price of another one. */
  addOther(model: string, row: unknown, promptTokensDimension: string): void {
    if (!isObject(row) || nameFault(model) !== undefined) return;
    const { rules } = convertRow(model, row, promptTokensDimension);
    this.#others.push(tableModel(model, row.litellm_provider, rules));
  }

  /** @param chosen names of the imported models */
  finish(chosen: ReadonlySet<string>): ConvertedTable {
    const aliasesByModel = modelAliases(this.#priced, this.#others, chosen);
    const models = Array.from(this.#rulesByModel, ([model, rules]) => {
      return { model, condition: modelIs(model), rules, aliases: aliasesByModel.get(model) ?? [] };
    });
    const { withoutTokenPrice, fallbacks, leftOut, notModels, refused, rounded } = this;
    const promptSizes = [...this.#promptSizes].sort((a, b) => a - b);
    return { models, promptSizes, withoutTokenPrice, fallbacks, leftOut, notModels, refused, rounded };
  }

  #addRow(model: string, provider: unknown, converted: ConvertedRow): void {
    const named = tableModel(model, provider, converted.rules);
    if (converted.rules.length > 0) {
      this.#rulesByModel.set(model, converted.rules);
      this.#priced.push(named);
    } else {
      this.#others.push(named);
      if (converted.refused.length === 0) this.withoutTokenPrice.push(model);
    }
    for (const size of converted.promptSizes) this.#promptSizes.add(size);
    for (const { metric } of converted.fallbacks) note(this.fallbacks, metric, model);
    for (const key of converted.leftOut) note(this.leftOut, key, model);
    for (const { key, reason } of converted.refused) note(this.refused, `${key} ${reason}`, model);
    for (const key of converted.rounded) note(this.rounded, key, model);
  }
}

function tableModel(model: string, provider: unknown, rules: readonly PricingRule[]): TableModel {
  const base = rules.filter(({ match_expr: match }) => match === modelIs(model));
  return { model, provider, prices: pricesOf(model, rules), basePrices: pricesOf(model, base) };
}

function pricesOf(model: string, rules: readonly PricingRule[]): string {
  const prices = rules.map(({ name = '', unit_price_expr, pricing_unit }) => [
    name.slice(model.length),
    unit_price_expr,
    pricing_unit,
  ]);
  return JSON.stringify(prices);
}

function note(models: Map<string, string[]>, what: string, model: string): void {
  const noted = models.get(what);
  if (noted === undefined) models.set(what, [model]);
  else noted.push(model);
}

/** Leaves room for the metric, since every name of a rule begins with that of the model. */
const MODEL_CHARS_MAX = NAME_CHARS_MAX - 60;

function nameFault(model: string): string | undefined {
  if (model === '') return 'the name of the model is empty';
  if (NOT_IN_NAMES.test(model)) return 'the name of the model has control characters';
  return model.length > MODEL_CHARS_MAX
    ? `the name of the model has more than ${MODEL_CHARS_MAX} characters`
    : undefined;
}
