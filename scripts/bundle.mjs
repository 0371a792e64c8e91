// `[--check]`: the part of `npm run build` that bundles the console and the program, once they are compiled;
// or whether that is done.
import { bundle, isBundled } from './prepare.mjs';

if (!process.argv.includes('--check')) bundle();
else if (!isBundled()) {
  console.error('What is bundled is not what was compiled last: run npm run build.');
  process.exitCode = 1;
}
