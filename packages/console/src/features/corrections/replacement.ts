import type { UsageEventDetail } from '@tollgate/contract';
import { readJsonObject } from '../rules/trial/json-text.js';

/** The content of an event while it is edited: texts, empty where the event has nothing. */
export interface EventContent {
  readonly rawJson: string;
  readonly metadata: string;
  readonly billing: string;
  /** The subject that the event names itself. */
  readonly subjectType: string;
  readonly subjectId: string;
}

/** The present content of an event. Numbers keep their digits, if the detail was parsed with `parseExactly`. */
export function contentOf(detail: UsageEventDetail): EventContent {
  const { subject_is_sent: isSent, subject_type: type, subject_id: id } = detail;
  return {
    rawJson: textOf(detail.raw_json),
    metadata: textOf(detail.metadata),
    billing: textOf(detail['x-billing']),
    subjectType: (isSent ? type : null) ?? '',
    subjectId: (isSent ? id : null) ?? '',
  };
}

function textOf(value: unknown): string {
  return value === null ? '' : JSON.stringify(value, null, 2);
}

/** Whether the texts can be sent: JSON objects, and a whole subject or none. */
export function isCompleteContent({
  rawJson,
  metadata,
  billing,
  subjectType,
  subjectId,
}: EventContent): boolean {
  const isObject = (text: string) => readJsonObject(text).isObject;
  const isOptionalObject = (text: string) => text.trim() === '' || isObject(text);
  const isWholeSubject = (subjectType === '') === (subjectId === '');
  return isObject(rawJson) && isOptionalObject(metadata) && isOptionalObject(billing) && isWholeSubject;
}

/** The body of a replacement as text: JSON is inserted as it was written. @param content complete */
export function replaceBody(content: EventContent, reason: string): string {
  const { rawJson, metadata, billing, subjectType, subjectId } = content;
  const fields = [`"raw_json":${rawJson}`];
  if (metadata.trim() !== '') fields.push(`"metadata":${metadata}`);
  if (billing.trim() !== '') fields.push(`"x-billing":${billing}`);
  if (subjectId !== '') {
    fields.push(`"subject_type":${JSON.stringify(subjectType)}`, `"subject_id":${JSON.stringify(subjectId)}`);
  }
  return `{${fields.join(',')},"reason":${JSON.stringify(reason)}}`;
}
