import { textTest } from './text-function.js';

export const startsWith = textTest('startsWith', (text, part) => text.startsWith(part));
