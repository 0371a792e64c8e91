import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { FastifyReply } from 'fastify';
import { secured } from './secured.js';
import type { App } from './types.js';

/** The page loads only its own script and the API description, so it works offline. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  // The page's script writes its style sheet into the document.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * Without these settings the page loads fonts, reports its use, and sends test requests through a server of its vendor.
 */
const SETTINGS = {
  withDefaultFonts: false,
  telemetry: false,
  proxyUrl: '',
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  documentDownloadType: 'json',
  persistAuth: false,
  authentication: { preferredSecurityScheme: 'apiKey' },
};

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tollgate API</title>
<link rel="icon" href="data:,">
</head>
<body>
<noscript>This page needs JavaScript. The same description is at <a href="/openapi.json">/openapi.json</a>.</noscript>
<script id="api-reference" data-url="/openapi.json" data-configuration="${attribute(JSON.stringify(SETTINGS))}"></script>
<script src="/docs/reference.js"></script>
</body>
</html>
`;

/** Shows `/openapi.json` for people at `/docs`. */
export function registerDocsPage(app: App): void {
  const config = { access: { kind: 'public' } } as const;
  app.route({
    method: 'GET',
    url: '/docs',
    config,
    schema: { hide: true },
    handler: async (_request, reply) => confined(reply).type('text/html; charset=utf-8').send(PAGE),
  });
  let script: Promise<Buffer> | undefined;
  app.route({
    method: 'GET',
    url: '/docs/reference.js',
    config,
    schema: { hide: true },
    handler: async (_request, reply) => {
      script ??= readFile(referenceScript());
      const bytes = await script;
      return confined(reply)
        .type('text/javascript; charset=utf-8')
        .header('cache-control', 'public, max-age=86400')
        .send(bytes);
    },
  });
}

function confined(reply: FastifyReply): FastifyReply {
  return secured(reply).header('content-security-policy', CONTENT_SECURITY_POLICY);
}

/** Uses the package's browser bundle only: its Fastify plugin would add routes that declare no access. */
function referenceScript(): string {
  const entry = createRequire(import.meta.url).resolve('@scalar/fastify-api-reference');
  return join(dirname(entry), 'js/standalone.js');
}

function attribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
