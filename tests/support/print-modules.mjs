// Is loaded before a program: each process and thread then prints the address of each module that it loads.
import { writeSync } from 'node:fs';
import * as module from 'node:module';

const STDERR = 2;
/** Hooks as Node 20 takes them: a module that runs in a thread of its own. */
const HOOKS = `
  import { writeSync } from 'node:fs';
  export function load(url, context, nextLoad) {
    writeSync(${STDERR}, url + '\\n');
    return nextLoad(url, context);
  }
`;

if (module.registerHooks === undefined) module.register(`data:text/javascript,${encodeURIComponent(HOOKS)}`);
else
  module.registerHooks({
    load(url, context, nextLoad) {
      writeSync(STDERR, `${url}\n`);
      return nextLoad(url, context);
    },
  });
