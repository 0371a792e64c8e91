/** One broken rule: where, what, and what to do about it. */
export interface Finding {
  readonly rule: string;
  readonly path: string;
  readonly line: number;
  readonly advice: string;
}

export function findingText({ rule, path, line, advice }: Finding): string {
  return `${path}:${line} [${rule}] ${advice}`;
}
