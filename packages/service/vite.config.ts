import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** A package that finds files of its own, its native code; and one that few services ever load. */
const UNBUNDLED = ['chdb', 'stripe'];

/**
 * Loading one of our modules only declares things. So an entry gets the modules that it uses, and not everything that
 * an `index.js` on its way exports: a worker thread loads a fifth of the program, and none of its HTTP.
 */
const OWN_MODULES = /packages.(contract|sdk|service|timezone).dist/;

/**
 * The compiled program in a few files instead of more than a thousand, most of them of libraries: reading so
 * many took half of a start, and each thread reads them anew.
 */
export default defineConfig({
  ssr: { noExternal: true, external: UNBUNDLED },
  // Node.js has it since version 21. Where it is missing, pg makes a Response to find out where it runs, and so each
  // process and thread compiles all of fetch: a tenth of a second of processor time.
  define: { navigator: JSON.stringify({ userAgent: 'Node.js' }) },
  build: {
    ssr: true,
    // As deep as the modules that look for files beside them.
    outDir: 'dist/bundle',
    target: 'node20',
    minify: false,
    copyPublicDir: false,
    rolldownOptions: {
      treeshake: { moduleSideEffects: [{ test: OWN_MODULES, sideEffects: false }] },
      input: {
        cli: here('dist/main/cli.js'),
        'accepting-process': here('dist/main/accepting-process.js'),
        'worker-thread': here('dist/main/worker-thread.js'),
        'rules-thread': here('dist/main/rules-thread.js'),
        'corrections-thread': here('dist/main/corrections-thread.js'),
      },
      output: {
        entryFileNames: '[name].js',
        chunkFileNames: '[name].js',
        comments: { legal: true, annotation: false, jsdoc: false },
      },
    },
  },
});
