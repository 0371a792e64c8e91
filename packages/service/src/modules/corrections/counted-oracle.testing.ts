import type { CounterAggregate, Cumulative } from '@tollgate/contract';
import { type LocalPeriod, type LocalSettings, UTC_SETTINGS } from './local-periods.testing.js';
import { type ExactPrice, exact, exactText, roundedOnce } from './total-prices.testing.js';

/** The content of a counted event. */
export interface CountedContent {
  readonly customer: string;
  /** A decimal. */
  readonly n: string;
  readonly model?: string;
}

/** How a test counts. */
export interface Counting {
  readonly aggregate: CounterAggregate;
  readonly per: Cumulative['per'];
  readonly by: string[];
  readonly period: LocalPeriod;
}

/** Who pays for a customer, and by which clocks its periods and those of its account go. */
export interface Customer {
  readonly accountId: string;
  readonly route: LocalSettings;
  readonly account: LocalSettings;
}

interface KnownEvent {
  readonly atS: number;
  /** The contents that the event has had, the last one in force; undefined for a void. `madeBy` is the correction. */
  readonly contents: { readonly madeBy: string; readonly content: CountedContent | undefined }[];
}

/** A period of a counter as it must be. */
export interface ExpectedPeriod {
  /** Subject, account, dimension values and the name of the period. */
  readonly name: string;
  /** Total, number of charge items, number of values. */
  readonly content: string;
  /** The price of the total. */
  readonly price: string;
}

/** The usage that has a counter of its own. */
export interface CounterOwner {
  /** Empty unless the counter is one of a subject. */
  readonly subject: string;
  /** Empty unless the counter is one of an account. */
  readonly account: string;
  /** The values of the dimensions by which it is split; null for an absent one. */
  readonly values: readonly (string | null)[];
}

/** Returns a text that only one counter and period has. */
export function nameOfPeriod({ subject, account, values }: CounterOwner, period: string): string {
  return JSON.stringify([subject, account, values, period]);
}

/** Returns the totals of all counters from the contents of events alone. */
export class CountedOracle {
  /** By customer; one without an entry has no route. */
  readonly customers = new Map<string, Customer>();
  readonly #counting: Counting;
  readonly #events = new Map<string, KnownEvent>();

  constructor(counting: Counting) {
    this.#counting = counting;
  }

  get ids(): string[] {
    return [...this.#events.keys()];
  }

  send(id: string, atS: number, content: CountedContent): void {
    this.#events.set(id, { atS, contents: [{ madeBy: '', content }] });
  }

  /** @param content of the event afterwards, from that before */
  correct(
    madeBy: string,
    ids: readonly string[],
    content: (former: CountedContent | undefined) => CountedContent | undefined,
  ): void {
    for (const id of ids) {
      const contents = this.#events.get(id)?.contents;
      if (contents === undefined) throw new Error(`the event ${id} was not sent`);
      contents.push({ madeBy, content: content(contents.at(-1)?.content) });
    }
  }

  /** Takes back the contents that a correction has made. */
  revert(correctionId: string): void {
    for (const [id, { contents }] of this.#events) {
      if (!contents.some(({ madeBy }) => madeBy === correctionId)) continue;
      if (contents.pop()?.madeBy !== correctionId) throw new Error(`a later correction has changed ${id}`);
    }
  }

  /**
   * Returns every period that counts a charge item.
   *
   * @param periodAt a text that all instants of one period of a counter have, and no others
   */
  periods(price: ExactPrice, periodAt: (owner: CounterOwner, atS: number) => string): ExpectedPeriod[] {
    const counted = new Map<string, CountedContent[]>();
    for (const { atS, contents } of this.#events.values()) {
      const content = contents.at(-1)?.content;
      const owner = content && this.#ownerOf(content);
      if (content === undefined || owner === undefined) continue;
      const name = nameOfPeriod(owner, periodAt(owner, atS));
      counted.set(name, [...(counted.get(name) ?? []), content]);
    }
    const periods = Array.from(counted, ([name, items]) => {
      const [total, values] = this.#totalOf(items);
      return {
        name,
        content: `${exactText(total)}, ${items.length} items, ${values} values`,
        price: exactText(roundedOnce(price.at(total))),
      };
    });
    return periods.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Returns the settings of the periods of a subject or an account; those of the project where both are empty. */
  settingsOf({ subject, account }: CounterOwner): LocalSettings {
    const ofAccount = [...this.customers.values()].find(({ accountId }) => accountId === account);
    return (account === '' ? this.customers.get(subject)?.route : ofAccount?.account) ?? UTC_SETTINGS;
  }

  /** Returns the owner of the counter of an event; undefined if its customer has no account, where one has to pay. */
  #ownerOf({ customer, model }: CountedContent): CounterOwner | undefined {
    const { per, by } = this.#counting;
    const { accountId = '' } = this.customers.get(customer) ?? {};
    if (per === 'account' && accountId === '') return undefined;
    return {
      subject: per === 'subject' ? customer : '',
      account: per === 'account' ? accountId : '',
      values: by.length === 0 ? [] : [model ?? null],
    };
  }

  /** Returns the total of some items, and the number of values that are kept for it. */
  #totalOf(items: readonly CountedContent[]): [bigint, number] {
    const quantities = items.map(({ n }) => exact(n));
    const models = new Set(items.flatMap(({ model }) => model ?? []));
    switch (this.#counting.aggregate) {
      case 'sum':
        return [quantities.reduce((sum, each) => sum + each, 0n), 0];
      case 'count':
        return [exact(`${items.length}`), 0];
      case 'max':
        return [quantities.toSorted((a, b) => (a < b ? 1 : -1))[0] ?? 0n, new Set(quantities).size];
      case 'unique':
        return [exact(`${models.size}`), models.size];
    }
  }
}
