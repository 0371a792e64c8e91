import {
  type CreateLeaseBody,
  LEASE_DIMENSIONS_BYTES_MAX,
  type LeaseHoldInput,
  RULE_SET_DIMENSIONS_MAX,
} from '@tollgate/contract';
import { invalidRequest } from '../../../kernel/errors.js';
import { parseJson } from '../../../kernel/json/json.js';
import { present } from '../../../kernel/present.js';
import { amountOfJson } from '../../ledger/index.js';
import { parsedDimensionTexts } from '../check/parsed-dimension-texts.js';
import { type AskedHold, type LeaseInput, unitKey } from './lease.js';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Returns what a request for a lease asks for. Amounts and dimensions are read from the text of the body, so that all
 * digits of a number count.
 *
 * @throws DomainError `invalid_request`
 */
export function leaseInput(body: CreateLeaseBody, rawBody: Buffer): LeaseInput {
  const fields = parseJson(rawBody) as Fields;
  return {
    subject: { type: body.subject_type, id: body.subject_id },
    isPlain: body.holds === undefined,
    holds: body.holds === undefined ? [plainHoldOf(body, fields)] : holdsOf(body, fields),
    metric: body.metric ?? null,
    dimensions: boundedDimensions(parsedDimensionTexts(fields.dimensions)),
    parentId: body.parent_lease_id,
    ttlSeconds: body.ttl_seconds,
  };
}

/**
 * Returns the dimensions of a lease. They are stored with it and with its parts, and one batch may read thousands of
 * leases, so they are small.
 *
 * @throws DomainError `invalid_request` when they are too many or too large
 */
export function boundedDimensions(dimensions: LeaseInput['dimensions']): LeaseInput['dimensions'] {
  const bytes = [...dimensions].flat().reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (dimensions.size > RULE_SET_DIMENSIONS_MAX)
    throw invalidRequest(
      'dimensions',
      `expected at most ${RULE_SET_DIMENSIONS_MAX} (RULE_SET_DIMENSIONS_MAX) with those of the parent lease`,
    );
  if (bytes > LEASE_DIMENSIONS_BYTES_MAX)
    throw invalidRequest(
      'dimensions',
      `expected names and values of at most ${LEASE_DIMENSIONS_BYTES_MAX} bytes together (LEASE_DIMENSIONS_BYTES_MAX)`,
    );
  return dimensions;
}

function plainHoldOf({ amount, currency }: CreateLeaseBody, fields: Fields): AskedHold {
  if (amount === undefined) throw invalidRequest('amount', 'is required, or holds');
  if (currency === undefined) throw invalidRequest('currency', 'is required together with amount');
  return { kind: 'amount', unit: currency, amount: positive(fields, 'amount', 'amount') };
}

function holdsOf({ amount, currency, holds = [] }: CreateLeaseBody, fields: Fields): AskedHold[] {
  if (amount !== undefined) throw invalidRequest('amount', 'expected either amount or holds');
  if (currency !== undefined) throw invalidRequest('currency', 'expected either currency or holds');
  const raw = fields.holds as readonly Fields[];
  const found = new Map<string, number>();
  return holds.map((hold, index) => {
    const asked = holdOf(hold, present(raw[index], 'a hold'), `holds[${index}]`);
    const earlier = found.get(unitKey(asked));
    const field = asked.kind === 'amount' ? 'currency' : 'metric';
    if (earlier !== undefined)
      throw invalidRequest(
        `holds[${index}].${field}`,
        `expected a ${field} other than that of holds[${earlier}]`,
      );
    found.set(unitKey(asked), index);
    return asked;
  });
}

function holdOf(
  { amount, currency, quantity, metric }: LeaseHoldInput,
  raw: Fields,
  path: string,
): AskedHold {
  const isQuantity = amount === undefined && (quantity !== undefined || metric !== undefined);
  const refuse = (field: string, message: string) => invalidRequest(`${path}.${field}`, message);
  if (isQuantity) {
    if (currency !== undefined) throw refuse('currency', 'expected none beside a quantity');
    if (quantity === undefined) throw refuse('quantity', 'is required together with metric');
    if (metric === undefined) throw refuse('metric', 'is required together with quantity');
    return { kind: 'quantity', unit: metric, amount: positive(raw, 'quantity', `${path}.quantity`) };
  }
  if (quantity !== undefined) throw refuse('quantity', 'expected none beside an amount');
  if (metric !== undefined) throw refuse('metric', 'expected none beside an amount');
  if (amount === undefined) throw refuse('amount', 'is required, or quantity');
  if (currency === undefined) throw refuse('currency', 'is required together with amount');
  return { kind: 'amount', unit: currency, amount: positive(raw, 'amount', `${path}.amount`) };
}

function positive(fields: Fields, field: 'amount' | 'quantity', path: string): bigint {
  const amount = amountOfJson(fields[field], path);
  if (amount <= 0n)
    throw invalidRequest(path, `expected ${field === 'amount' ? 'an amount' : 'a quantity'} above 0`);
  return amount;
}
