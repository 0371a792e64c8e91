import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Packages that find files of their own, native code and scripts of threads; and one that few services ever load. */
const UNBUNDLED = ['chdb', 'pino', 'stripe'];

/**
 * The compiled program in a few files instead of more than a thousand, most of them of libraries: reading so
 * many took half of a start, and each thread reads them anew.
 */
export default defineConfig({
  ssr: { noExternal: true, external: UNBUNDLED },
  build: {
    ssr: true,
    // As deep as the modules that look for files beside them.
    outDir: 'dist/bundle',
    target: 'node20',
    minify: false,
    copyPublicDir: false,
    rolldownOptions: {
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
        codeSplitting: { groups: [{ name: 'shared', minShareCount: 2 }] },
      },
    },
  },
});
