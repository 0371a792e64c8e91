import { argument, type FunctionDefinition } from './definition.js';

/** The value itself; its type is then looked at for each event instead of when the expression is saved. */
export const dyn: FunctionDefinition = {
  name: 'dyn',
  signatures: [],
  usage: 'dyn(value)',
  compile: (args) => argument(args, 0).run,
};
