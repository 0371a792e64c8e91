import { lowerCased } from './ascii-case.js';
import { textTransformation } from './text-function.js';

export const lowerAscii = textTransformation('lowerAscii', lowerCased);
