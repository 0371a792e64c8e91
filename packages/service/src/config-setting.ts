import { readFileSync } from 'node:fs';

/** One environment variable: how it is documented, and how its text is read. */
export interface Setting<T> {
  readonly variable: string;
  /** The value of an absent or empty variable; undefined when there is none. */
  readonly fallback: string | undefined;
  /** Text for docs/configuration.md. */
  readonly meaning: string;
  /** Returns the value; throws an Error whose message ends the sentence "VARIABLE must be …". */
  readonly read: (text: string) => T;
  /** Whether the value can also come from a file, which another variable names. */
  readonly isSecret: boolean;
}

/** A setting with a default. */
export function setting<T>(
  variable: string,
  fallback: string,
  meaning: string,
  read: (text: string) => T,
): Setting<T> {
  return { variable, fallback, meaning, read, isSecret: false };
}

/** A setting without a default. */
export function optional<T>(
  variable: string,
  meaning: string,
  read: (text: string) => T,
): Setting<T | undefined> {
  return { variable, fallback: undefined, meaning, read, isSecret: false };
}

/** An optional setting that contains a secret. */
export function secret<T>(
  variable: string,
  meaning: string,
  read: (text: string) => T,
): Setting<T | undefined> {
  return { ...optional(variable, meaning, read), isSecret: true };
}

/** Returns the names of all variables from which a setting is read. */
export function variablesOf({ variable, isSecret }: Setting<unknown>): string[] {
  return isSecret ? [variable, fileVariable(variable)] : [variable];
}

/**
 * Returns the value of a setting; that of a secret can be in a file.
 *
 * @throws Error one sentence that names the variable, and never repeats a value
 */
export function readSetting<T>(
  { variable, fallback, read, isSecret }: Setting<T>,
  environment: NodeJS.ProcessEnv,
): T | undefined {
  const given = environment[variable] || undefined;
  const file = isSecret ? environment[fileVariable(variable)] || undefined : undefined;
  if (file !== undefined && given !== undefined) {
    throw new Error(`${variable} and ${fileVariable(variable)} exclude each other: set only one of them.`);
  }
  const text = file === undefined ? (given ?? fallback) : readSecretFile(fileVariable(variable), file);
  if (text === undefined) return undefined;
  try {
    return read(text);
  } catch (error) {
    const value = file === undefined ? variable : `The content of the file in ${fileVariable(variable)}`;
    throw new Error(`${value} must be ${(error as Error).message}.`);
  }
}

/** Returns the row of a setting in docs/configuration.md. */
export function describeSetting({ variable, fallback, meaning, isSecret }: Setting<unknown>): string {
  const value = fallback === undefined ? '' : `\`${fallback}\``;
  const inFile = isSecret ? ` \`${fileVariable(variable)}\` can name a file that contains it instead.` : '';
  return `| \`${variable}\` | ${value} | ${meaning}${inFile} |`;
}

function fileVariable(variable: string): string {
  return `${variable}_FILE`;
}

/** Returns the text of a file without the line break at its end, which editors add. */
function readSecretFile(variable: string, path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw new Error(
      `${variable} must name a file that can be read (${(error as NodeJS.ErrnoException).code}).`,
    );
  }
}
