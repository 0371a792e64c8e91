import { textTest } from './text-function.js';

export const endsWith = textTest('endsWith', (text, part) => text.endsWith(part));
