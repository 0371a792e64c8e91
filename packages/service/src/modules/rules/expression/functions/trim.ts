import { textTransformation } from './text-function.js';

/** Without white space at both ends. */
export const trim = textTransformation('trim', (text) => text.trim());
