export { BackupReader } from './backup-reader.js';
export { BackupWriter, COPIES_AT_ONCE } from './backup-writer.js';
export { type BackupEntry, BackupError } from './manifest.js';
