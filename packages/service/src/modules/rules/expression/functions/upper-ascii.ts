import { upperCased } from './ascii-case.js';
import { textTransformation } from './text-function.js';

export const upperAscii = textTransformation('upperAscii', upperCased);
