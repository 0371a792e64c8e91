import { promisify } from 'node:util';
import { deflate, inflate } from 'node:zlib';
import { present } from '../../kernel/present.js';
import type { ItemCostRow, UsageItemRow } from '../usage/index.js';
import type { Outcome } from './outcome.js';

const deflated = promisify(deflate);
const inflated = promisify(inflate);
/** Quick rather than small: a plan is kept for days, and read once or twice. */
const LEVEL = 1;

/** The place of a text among the texts of a part. */
type Place = number;

/** A charge item without the names of its fields. Decimals are texts. */
type StoredItem = readonly [
  quantity: string,
  unitPrice: string | null,
  amount: string,
  discount: string,
  extractorName: Place,
  metric: Place,
  unit: Place,
  currency: Place,
  source: Place,
  pricingSource: Place,
  ruleSetId: Place,
  ruleSetVersion: number,
  ruleName: Place,
  cumulative: Place,
  cost: StoredCost | null,
];

type StoredCost = readonly [
  amount: string,
  currency: Place,
  ruleSetId: Place,
  ruleSetVersion: number,
  ruleName: Place,
];

type StoredOutcome = readonly [
  status: Place,
  posting: Place,
  accountId: Place,
  subjectType: Place,
  subjectId: Place,
  subjectIsSent: boolean,
  extractorRuleSetId: Place,
  extractorVersion: number,
  /** Names and values in turns. */
  dimensions: readonly Place[],
  notes: Place,
  items: readonly StoredItem[],
  sent: NonNullable<Outcome['sent']> | null,
];

/** All texts of a part, each once, and its outcomes. */
type StoredPart = readonly [texts: readonly string[], outcomes: readonly StoredOutcome[]];

/**
 * Collects the outcomes of a part as they are stored. Events share most of their texts, such as names of metrics and
 * rules. Each text is written and read once, which takes less time than to do it for each event.
 */
export class StoredOutcomes {
  readonly #places = new Map<string, Place>();
  /** As JSON, because many small objects that stay would be copied by several collections of garbage. */
  readonly #outcomes: string[] = [];

  add(outcome: Outcome): void {
    const stored: StoredOutcome = [
      this.#placeOf(outcome.status),
      this.#placeOf(outcome.posting),
      this.#placeOf(outcome.accountId),
      this.#placeOf(outcome.subjectType),
      this.#placeOf(outcome.subjectId),
      outcome.subjectIsSent,
      this.#placeOf(outcome.extractorRuleSetId),
      outcome.extractorVersion,
      [...outcome.dimensions].flatMap(([name, value]) => [this.#placeOf(name), this.#placeOf(value)]),
      this.#placeOf(outcome.notes),
      outcome.items.map((item) => this.#item(item)),
      outcome.sent ?? null,
    ];
    this.#outcomes.push(JSON.stringify(stored));
  }

  /** Returns the outcomes that were added, in their order. */
  encoded(): Promise<Buffer> {
    const texts = JSON.stringify([...this.#places.keys()]);
    return deflated(`[${texts},[${this.#outcomes.join(',')}]]`, { level: LEVEL });
  }

  #item(item: UsageItemRow): StoredItem {
    return [
      String(item.quantity),
      item.unitPrice === null ? null : String(item.unitPrice),
      String(item.amount),
      String(item.discount),
      this.#placeOf(item.extractorName),
      this.#placeOf(item.metric),
      this.#placeOf(item.unit),
      this.#placeOf(item.currency),
      this.#placeOf(item.source),
      this.#placeOf(item.pricingSource),
      this.#placeOf(item.ruleSetId),
      item.ruleSetVersion,
      this.#placeOf(item.ruleName),
      this.#placeOf(item.cumulative),
      item.cost && this.#cost(item.cost),
    ];
  }

  #cost({ amount, currency, ruleSetId, ruleSetVersion, ruleName }: ItemCostRow): StoredCost {
    return [
      String(amount),
      this.#placeOf(currency),
      this.#placeOf(ruleSetId),
      ruleSetVersion,
      this.#placeOf(ruleName),
    ];
  }

  #placeOf(text: string): Place {
    const known = this.#places.get(text);
    if (known !== undefined) return known;
    const place = this.#places.size;
    this.#places.set(text, place);
    return place;
  }
}

/** Returns stored outcomes. @throws Error for bytes that `StoredOutcomes` did not make */
export async function decodeOutcomes(bytes: Buffer): Promise<Outcome[]> {
  const [texts, outcomes] = JSON.parse((await inflated(bytes)).toString('utf8')) as StoredPart;
  const reader = new OutcomeReader(texts);
  return outcomes.map((stored) => reader.outcome(stored));
}

class OutcomeReader {
  readonly #texts: readonly string[];

  constructor(texts: readonly string[]) {
    this.#texts = texts;
  }

  outcome(stored: StoredOutcome): Outcome {
    const [status, posting, accountId, subjectType, subjectId, subjectIsSent] = stored;
    const [, , , , , , extractorRuleSetId, extractorVersion, dimensions, notes, items, sent] = stored;
    const outcome: Outcome = {
      status: this.#text(status),
      posting: this.#text(posting),
      accountId: this.#text(accountId),
      subjectType: this.#text(subjectType),
      subjectId: this.#text(subjectId),
      subjectIsSent,
      extractorRuleSetId: this.#text(extractorRuleSetId),
      extractorVersion,
      dimensions: this.#dimensions(dimensions),
      notes: this.#text(notes),
      items: items.map((item) => this.#item(item)),
    };
    return sent === null ? outcome : { ...outcome, sent };
  }

  #dimensions(places: readonly Place[]): Map<string, string> {
    const dimensions = new Map<string, string>();
    for (let at = 0; at < places.length; at += 2)
      dimensions.set(this.#text(places[at]), this.#text(places[at + 1]));
    return dimensions;
  }

  #item(stored: StoredItem): UsageItemRow {
    const [quantity, unitPrice, amount, discount, extractorName, metric, unit, currency] = stored;
    const [, , , , , , , , source, pricingSource, ruleSetId, ruleSetVersion, ruleName, cumulative, cost] =
      stored;
    return {
      quantity: BigInt(quantity),
      unitPrice: unitPrice === null ? null : BigInt(unitPrice),
      amount: BigInt(amount),
      discount: BigInt(discount),
      extractorName: this.#text(extractorName),
      metric: this.#text(metric),
      unit: this.#text(unit),
      currency: this.#text(currency),
      source: this.#text(source),
      pricingSource: this.#text(pricingSource),
      ruleSetId: this.#text(ruleSetId),
      ruleSetVersion,
      ruleName: this.#text(ruleName),
      cumulative: this.#text(cumulative),
      cost: cost && this.#cost(cost),
    };
  }

  #cost([amount, currency, ruleSetId, ruleSetVersion, ruleName]: StoredCost): ItemCostRow {
    return {
      amount: BigInt(amount),
      currency: this.#text(currency),
      ruleSetId: this.#text(ruleSetId),
      ruleSetVersion,
      ruleName: this.#text(ruleName),
    };
  }

  /** @typeParam Text the texts that a field may have */
  #text<Text extends string>(place: Place | undefined): Text {
    return present(place === undefined ? undefined : this.#texts[place], 'a text of a plan') as Text;
  }
}
