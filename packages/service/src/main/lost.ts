import { LOSS_REASON_CHARS_MAX, type LossReport, type LostObject } from '@tollgate/contract';
import type { Config } from '../config.js';
import { systemClock } from '../kernel/clock.js';
import { newId } from '../kernel/id.js';
import { findLost } from '../modules/rebuild/index.js';
import { exitOnSignal } from './signals.js';
import { StartError } from './start-error.js';
import { doTask } from './with-stores.js';

/** The options of `tollgate lost`. */
interface LostOptions {
  readonly 'give-up'?: boolean | undefined;
  readonly reason?: string | undefined;
}

/** `tollgate lost`: lists the events whose objects are lost. Returns 1 if there are any that are not given up now. */
export async function lost(
  config: Config,
  { 'give-up': isGivenUp = false, reason }: LostOptions,
): Promise<number> {
  const accepted = checkReason(isGivenUp, reason);
  exitOnSignal();
  const givingUp =
    accepted === undefined
      ? undefined
      : { atMs: systemClock.nowMs(), reason: accepted, requestId: newId('req', systemClock) };
  const report = await doTask<LossReport>(config, {
    run: (stores) => findLost(stores, givingUp),
    path: '/admin/v1/losses',
    body: accepted === undefined ? {} : { give_up: true, reason: accepted },
  });
  console.log(describeLost(report));
  return report.object_count === 0 || report.given_up ? 0 : 1;
}

/** @throws StartError unless both options are given, or neither */
function checkReason(isGivenUp: boolean, reason: string | undefined): string | undefined {
  if (isGivenUp !== (reason !== undefined)) {
    throw new StartError('tollgate lost needs --give-up and --reason together, or neither.');
  }
  const text = reason?.trim();
  if (text === undefined || (text !== '' && text.length <= LOSS_REASON_CHARS_MAX)) return text;
  throw new StartError(`--reason must have 1 to ${LOSS_REASON_CHARS_MAX} characters.`);
}

/** The report of `tollgate lost` as a person reads it. */
export function describeLost({ object_count, event_count, given_up, objects }: LossReport): string {
  if (object_count === 0) return 'Nothing is lost: every object to which a row refers is undamaged.';
  const lines = objects.flatMap(describeObject);
  if (object_count > objects.length) lines.push(`… and ${object_count - objects.length} more objects`);
  lines.push(
    given_up
      ? `Given up: ${object_count} objects with ${event_count} events. Nothing waits for them any more. Run tollgate verify.`
      : `Lost: ${object_count} objects with ${event_count} events. Bring the objects back; only if that is impossible, run tollgate lost --give-up --reason TEXT.`,
  );
  return lines.join('\n');
}

const NAMES = {
  received: 'received events of segment',
  rated: 'rated rows of batch',
  archived: 'archived rows of block',
} as const;

function describeObject(object: LostObject): string[] {
  const { kind, number, object_key, problem, event_count, received_at, projects } = object;
  const arrived = received_at === null ? '' : `, received ${new Date(received_at * 1_000).toISOString()}`;
  return [
    `${NAMES[kind]} ${number}: ${event_count} events${arrived}; ${object_key} ${problem}`,
    ...projects.map((part) => `  ${part.tenant_id} ${part.project_id}: ${describePart(part)}`),
  ];
}

function describePart({ event_count, first_day, last_day }: LostObject['projects'][number]): string {
  const events = event_count === null ? 'some of these events' : `${event_count} events`;
  if (first_day === null && last_day === null) return events;
  return `${events}, of ${first_day ?? 'unknown'} to ${last_day ?? 'unknown'}`;
}
