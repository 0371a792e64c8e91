import type { UsageLimitAlertData } from '@tollgate/contract';

export type AlertData = Pick<
  UsageLimitAlertData,
  'window_id' | 'threshold_percent' | 'sequence' | 'subject_id'
>;

/** Returns the text of an alert or a recovery: event, percentage and sequence, rule, start of the window, subject. */
export function alertText(type: string, ruleNo: string, data: AlertData): string {
  const { window_id, threshold_percent, sequence, subject_id } = data;
  return `${type} ${threshold_percent}#${sequence} ${ruleNo} ${window_id.split(':').at(-1)} ${subject_id}`;
}
