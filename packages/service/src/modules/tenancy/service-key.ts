import { randomBytes } from 'node:crypto';
import { chmod, link, mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { generateApiKey, isWellFormedApiKey } from '../../kernel/api-key-text.js';

const SERVICE_KEY_FILE = 'service-key';
/** Only the owner may read and write the file. */
const FILE_MODE = 0o600;

export interface ServiceKey {
  readonly text: string;
  /** `generated`: this call created it, so it should be shown to the operator once. */
  readonly source: 'configured' | 'file' | 'generated';
  /** The file that contains it; undefined when it was configured. */
  readonly file: string | undefined;
}

/**
 * Returns the service key: the configured one, or that of the `service-key` file in the data folder, which the first
 * start creates. Processes that start at the same moment agree on one key.
 *
 * @throws Error when the file does not contain a key
 */
export async function loadServiceKey(dataDir: string, configured: string | undefined): Promise<ServiceKey> {
  if (configured !== undefined) return { text: configured, source: 'configured', file: undefined };
  const file = join(dataDir, SERVICE_KEY_FILE);
  const stored = await readKey(file);
  if (stored !== undefined) return { text: stored, source: 'file', file };
  const text = generateApiKey('live');
  await mkdir(dataDir, { recursive: true });
  if (await publish(file, text)) return { text, source: 'generated', file };
  const winner = await readKey(file);
  if (winner === undefined) throw new Error(`${file} disappeared while it was read.`);
  return { text: winner, source: 'file', file };
}

async function readKey(file: string): Promise<string | undefined> {
  let text: string;
  try {
    text = (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  if (!isWellFormedApiKey(text)) {
    throw new Error(
      `${file} does not contain a service key. Restore it, or delete it to have a new one made.`,
    );
  }
  await chmod(file, FILE_MODE);
  return text;
}

/** Writes the whole file under another name and links it into place, so that no reader ever sees half a key. */
async function publish(file: string, text: string): Promise<boolean> {
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  const handle = await open(draft, 'wx', FILE_MODE);
  try {
    await handle.writeFile(`${text}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  try {
    await link(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft);
  }
}
