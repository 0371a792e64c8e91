#!/usr/bin/env node
// The `tollgate` command: finds the built program and hands over to it.
import { existsSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';

const NODE_MIN = [20, 20];
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const program = fileURLToPath(new URL('../dist/bundle/cli.js', import.meta.url));

if (major < NODE_MIN[0] || (major === NODE_MIN[0] && minor < NODE_MIN[1])) {
  console.error(`tollgate needs Node.js ${NODE_MIN.join('.')} or newer; this is ${process.versions.node}.`);
  process.exit(1);
}
if (!existsSync(program)) {
  console.error('tollgate is not built yet. Run `npm ci && npm run build` in the repository first.');
  process.exit(1);
}
process.argv[1] = program;
await import(pathToFileURL(program).href);
