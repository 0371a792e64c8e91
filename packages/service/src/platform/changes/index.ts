export { ChangeFeed, type ChangeFeedOptions, type ChangeMemory } from './change-feed.js';
export { noteAllKeys, noteKeys, noteText, noting } from './change-store.js';
export { keyNumber } from './key-number.js';
export { createNoteDeletionJob } from './note-deletion.js';
