// `npm start [-- --reset …]`: from a bare clone to a running demo. The program is loaded into this very process, so
// that signals and the exit code are its own.
import { pathToFileURL } from 'node:url';
import { inRepository, prepare } from './prepare.mjs';

prepare('packages/service');
const program = inRepository('packages/service/dist/bundle/cli.js');
process.argv = [process.execPath, program, 'demo', ...process.argv.slice(2)];
await import(pathToFileURL(program).href);
