// The part of `npm run build` that bundles the console and the program, once they are compiled.
import { bundle } from './prepare.mjs';

bundle();
