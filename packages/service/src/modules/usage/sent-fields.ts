import { parseJson } from '../../kernel/json/json.js';

/** The content of an event that rules read, as it is stored. */
export interface StoredContent {
  /** JSON text. */
  readonly rawJson: string | Uint8Array;
  /** JSON text; empty if it was not sent. */
  readonly xBilling: string;
  /** Unix seconds. */
  readonly occurredAt: number;
  /** Undefined if the rules have to find it. */
  readonly sentSubject: { readonly type: string; readonly id: string } | undefined;
}

/** Returns the fields of an event as ingest took them. @throws SyntaxError where its body could never be read */
export function sentFields({
  rawJson,
  xBilling,
  occurredAt,
  sentSubject,
}: StoredContent): Record<string, unknown> {
  return {
    raw_json: parseJson(bytesOf(rawJson)),
    occurred_at: occurredAt,
    ...(sentSubject === undefined ? {} : { subject_type: sentSubject.type, subject_id: sentSubject.id }),
    ...(xBilling === '' ? {} : { 'x-billing': parseJson(Buffer.from(xBilling)) }),
  };
}

function bytesOf(json: string | Uint8Array): Buffer {
  return typeof json === 'string'
    ? Buffer.from(json)
    : Buffer.from(json.buffer, json.byteOffset, json.byteLength);
}
