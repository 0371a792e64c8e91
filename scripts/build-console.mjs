// The part of `npm run build` that bundles the console.
import { buildConsole } from './prepare.mjs';

buildConsole();
