import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [react(), tailwindcss()],
  build: {
    outDir: 'dist/web',
    target: 'es2024',
    // The content policy allows no inline data but images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // Compressed it is a third of that.
    chunkSizeWarningLimit: 700,
  },
});
