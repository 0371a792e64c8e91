import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { ApiError } from '@tollgate/sdk/browser';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.js';
import { PageBoundary } from './shell/page-boundary.js';
import './styles.css';
import { applyTheme } from './theme.js';

const RETRIES_MAX = 2;

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // Retries only if the service could not be reached or failed; a rejection stays one.
      retry: (failures, error) =>
        failures < RETRIES_MAX && !(error instanceof ApiError && error.status < 500),
    },
  },
});

// Dialogs add a small style sheet to the document, which the content policy allows with this nonce.
setNonce(document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? '');
applyTheme();
const root = document.getElementById('root');
if (root === null) throw new Error('the page has no root');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <PageBoundary>
        <App />
      </PageBoundary>
    </QueryClientProvider>
  </StrictMode>,
);
