import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** One LLM invocation: seconds since the trace began, and its token counts. */
export interface Invocation {
  readonly offsetSeconds: number;
  readonly contextTokens: number;
  readonly generatedTokens: number;
}

const TRACE_FILE = fileURLToPath(
  new URL('../../../shared/data/AzureLLMInferenceTrace_code.csv', import.meta.url),
);
const SYNTHETIC_INVOCATIONS = 3_000;

/**
 * The invocations of Azure's public LLM inference trace (Azure/AzurePublicDataset, CC-BY 4.0; Patel et al.,
 * "Splitwise", ISCA 2024) where the file is at hand, otherwise invocations of a similar shape.
 */
export function loadInvocations(): { source: 'azure' | 'synthetic'; invocations: Invocation[] } {
  if (existsSync(TRACE_FILE))
    return { source: 'azure', invocations: parseTrace(readFileSync(TRACE_FILE, 'utf8')) };
  const invocations = Array.from({ length: SYNTHETIC_INVOCATIONS }, (_, index) => ({
    offsetSeconds: Math.floor(index / 3),
    contextTokens: 1 + ((index * 7_919) % 7_400),
    generatedTokens: 1 + ((index * 104_729) % 1_900),
  }));
  return { source: 'synthetic', invocations };
}

function parseTrace(csv: string): Invocation[] {
  const rows = csv.trim().split('\n').slice(1);
  const times = rows.map((row) => Date.parse(`${row.split(',')[0]?.slice(0, 23).replace(' ', 'T')}Z`));
  const startMs = Math.min(...times);
  return rows.map((row, index) => {
    const [, contextTokens, generatedTokens] = row.split(',');
    return {
      offsetSeconds: Math.floor(((times[index] ?? startMs) - startMs) / 1000),
      contextTokens: Number(contextTokens),
      generatedTokens: Number(generatedTokens),
    };
  });
}
