import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { ApiError, type ProjectClient } from '@tollgate/sdk/browser';
import { useProjectClient } from '../../project.js';
import { useSettled } from '../../ui/use-settled.js';
import type { RuleSetKind } from './api.js';
import type { Finding } from './finding.js';

const NONE: readonly Finding[] = [];

/** The errors of a body while it is edited. The service compiles it as for saving, but stores nothing. */
export function useCheck(
  kind: RuleSetKind,
  { text, body }: { readonly text: string; readonly body: unknown },
  isEnabled: boolean,
): readonly Finding[] {
  const project = useProjectClient();
  const settled = useSettled(text);
  const check = useQuery({
    queryKey: ['rules-check', project.projectId, kind, settled],
    queryFn: ({ signal }) => findingsOf(project, kind, settled, signal),
    // Waits until the text has settled.
    enabled: isEnabled && body !== undefined && settled === text,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    placeholderData: keepPreviousData,
  });
  return isEnabled && body !== undefined ? (check.data ?? NONE) : NONE;
}

/** Compiles the rules by testing them on an empty event. */
async function findingsOf(
  { ruleTrials }: ProjectClient,
  kind: RuleSetKind,
  text: string,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const body: unknown = JSON.parse(text);
  const rules = kind === 'extractor' ? { extractor: body } : { extractor: {}, pricing: body };
  try {
    await ruleTrials.testText(JSON.stringify({ ...rules, event: { raw_json: {} } }), { signal });
    return NONE;
  } catch (error) {
    if (error instanceof ApiError && error.status === 400) return findingsIn(error, `${kind}.`);
    throw error;
  }
}

/** The errors of a rejected request in the body, whose fields have `prefix` in the request. */
export function findingsIn(error: unknown, prefix = ''): readonly Finding[] {
  if (!(error instanceof ApiError) || error.status !== 400) return NONE;
  return error.details.map(({ path, message }) => ({
    path: path.startsWith(prefix) ? path.slice(prefix.length) : path === prefix.slice(0, -1) ? '' : path,
    message,
  }));
}
