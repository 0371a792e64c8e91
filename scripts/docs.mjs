// `npm run docs:write` writes the pages that are made from code; `npm run docs:check` proves that they are up to date,
// that every link between documents leads somewhere, and that every source file they name exists. Both need a build.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inRepository } from './prepare.mjs';

const built = (path) => import(pathToFileURL(inRepository(`packages/${path}`)).href);
const { ERRORS } = await built('contract/dist/errors.js');
const { WARNINGS } = await built('contract/dist/warnings.js');
const { configurationTable } = await built('service/dist/config.js');

/** Documents that are wholly made from code, by path. */
const GENERATED = {
  'docs/errors.md': errorsPage(),
  'docs/configuration.md': configurationPage(),
};
/** Documents that a reader expects at these places. */
const REQUIRED = [
  'README.md',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'LICENSE',
  'docs/glossary.md',
  'docs/walkthrough.md',
  'docs/decisions/README.md',
  'packages/service/src/kernel/README.md',
  'packages/service/src/platform/README.md',
];
/** Documents about the past: the files that they name may be gone. */
const HISTORY = /^(CHANGELOG\.md|docs\/decisions\/)/;
const IGNORED_FOLDERS = new Set(['node_modules', 'dist', 'data', 'coverage', 'results', '.git', '.tollgate']);

if (process.argv.includes('--write')) {
  for (const [path, text] of Object.entries(GENERATED)) writeFileSync(inRepository(path), text);
} else {
  const pages = documents('');
  const problems = [
    ...staleness(),
    ...missing(),
    ...recordsOutOfIndex(),
    ...pages.flatMap(brokenLinks),
    ...lostFiles(pages),
  ];
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exit(1);
}

function errorsPage() {
  const rows = Object.entries(ERRORS)
    .sort(([a, { status: x }], [b, { status: y }]) => x - y || a.localeCompare(b, 'en'))
    .map(([code, { status, statusInBody, message }]) => {
      const inBody = statusInBody === undefined ? '' : ` (${statusInBody} when the body names it)`;
      return `| ${status}${inBody} | \`${code}\` | ${message} |`;
    });
  const warnings = Object.entries(WARNINGS)
    .sort(([a], [b]) => a.localeCompare(b, 'en'))
    .map(([code, { message }]) => `| \`${code}\` | ${message} |`);
  return `# Errors and warnings

Every response with an error status has the body \`{"error": string, "code": string}\`. If a request did not pass
validation, the body also has \`"details": [{"path", "message"}]\`. \`code\` is stable and meant for programs; \`error\` is
meant for people and may change. 429 and 503 have a \`Retry-After\` header, and the same request may be sent again:
nothing was accepted. Only with \`cell_unavailable\`, the request may have been processed.

| Status | Code | Message |
|---|---|---|
${rows.join('\n')}

## Warnings

A successful write or query can return \`"warnings": [{"code", "name", "message"}]\` about names that do not occur in the
project yet. Such names may be correct, so the request is not refused.

| Code | Message |
|---|---|
${warnings.join('\n')}

This page is made from \`packages/contract/src/errors.ts\` and \`warnings.ts\` by \`npm run docs:write\`.
`;
}

function configurationPage() {
  return `# Configuration

Tollgate is configured by environment variables. An empty variable counts as unset. If a value is not valid, the
service does not start and names the variable.

${configurationTable()}

## Open files

A process keeps files open for its stores, and one for each connected client. It checks its limit of open files (\`ulimit
-n\`) when it starts. \`tollgate serve\` with default settings does not start with fewer than 328, and logs a warning with
fewer than 906. The number of client connections is limited to what the stores leave free: 374 under a limit of 1,024,
and never more than 50,000. A client beyond that takes the place of the connection that has waited longest for its own
client, to send a request or to read a response. If none waits, it gets 503 \`server_busy\`, and a line is logged once a
minute. In \`/metrics\`, \`tollgate_http_connections\` counts open connections, and
\`tollgate_http_connections_ended_total\` those that gave way. Node.js raises its soft limit to the hard limit by itself,
so set the hard limit. With a bucket as object store, a process needs up to 32 more, and 32 more for each rating thread.

## Traces

Traces go to a collector of OpenTelemetry as JSON over HTTP. Its SDK reads these variables, and all others that begin
with \`OTEL_EXPORTER_OTLP_\`, \`OTEL_BSP_\` and \`OTEL_SPAN_\`, as the specification of OpenTelemetry describes. They
have no effect without an endpoint. [Guide](guides/operating.md#traces).

| Variable | Default | Meaning |
|---|---|---|
| \`OTEL_SERVICE_NAME\` | \`tollgate\` | Name of the service in traces. |
| \`OTEL_RESOURCE_ATTRIBUTES\` | | Attributes of all spans, such as \`deployment.environment.name=production\`. |
| \`OTEL_TRACES_SAMPLER\` | \`parentbased_always_on\` | Which traces are recorded: \`always_on\`, \`always_off\` or \`traceidratio\`; with \`parentbased_\` before it, the sampled flag of a request takes precedence. |
| \`OTEL_TRACES_SAMPLER_ARG\` | \`1\` | Share of the traces that \`traceidratio\` records, from 0 to 1. |
| \`OTEL_EXPORTER_OTLP_HEADERS\` | | Header fields of each export, such as \`authorization=Bearer%20secret\`. |
| \`OTEL_EXPORTER_OTLP_TIMEOUT\` | \`10000\` | Milliseconds after which an export fails. |
| \`OTEL_BSP_SCHEDULE_DELAY\` | \`5000\` | Milliseconds between two exports. |
| \`OTEL_BSP_MAX_QUEUE_SIZE\` | \`2048\` | Spans that may wait to be exported; more are dropped. |

## Health

\`GET /healthz\` returns 200 as long as the process responds: use it to decide when to restart the process. \`GET /readyz\`
returns 200 while the process can do its work, and 503 otherwise and during shutdown: use it to decide where to send
requests. A process with the api role checks that events can be accepted by writing to the event queue, at most once a
second, however many requests come in: \`queue\` is PostgreSQL, \`queue_files\` the folder of large segments next to an
embedded PostgreSQL. The check \`object_store\`, in every process with an object store, proves that the store belongs to
the installation, and puts and deletes an object there. \`history\` says whether ClickHouse has what PostgreSQL has
committed: see [Backups and repairs](guides/backups.md).

\`problems\` gives the reason of a failed check: \`disk_full\`, \`missing_tables\`, \`read_only\`, \`rebuilding\`,
\`stores_differ\`, \`timeout\` or \`unavailable\`; the log has the full error. Events are accepted without ClickHouse
too, so failed checks of \`clickhouse\` and \`history\` do not make the process unready.

\`\`\`json
{
  "ready": false,
  "checks": { "postgres": "ok", "clickhouse": "ok", "history": "ok", "queue": "failed", "queue_files": "ok" },
  "problems": { "queue": "read_only" }
}
\`\`\`

This page is made from \`packages/service/src/config.ts\` by \`npm run docs:write\`.
`;
}

function staleness() {
  return Object.entries(GENERATED)
    .filter(([path, text]) => !existsSync(inRepository(path)) || read(path) !== text)
    .map(([path]) => `${path} is out of date: run npm run docs:write and commit it.`);
}

function missing() {
  const ofFolders = ['modules', 'platform'].flatMap((parent) =>
    readdirSync(inRepository(`packages/service/src/${parent}`), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => `packages/service/src/${parent}/${entry.name}/README.md`),
  );
  return [...REQUIRED, ...ofFolders]
    .filter((path) => !existsSync(inRepository(path)))
    .map((path) => `${path} is missing.`);
}

/** The index lists each decision record once, in the order of their numbers. */
function recordsOutOfIndex() {
  const path = 'docs/decisions/README.md';
  const listed = [...read(path).matchAll(/^\| \[\d+\]\((\d{4}-[^)]+)\)/gm)].map(([, name]) => name);
  const records = readdirSync(inRepository('docs/decisions')).filter((name) => /^\d{4}-/.test(name));
  const unlisted = records.filter((name) => !listed.includes(name));
  const outOfOrder = listed.filter((name, at) => at > 0 && name <= listed[at - 1]);
  return [
    ...unlisted.map((name) => `${path} does not list ${name}.`),
    ...outOfOrder.map((name) => `${path} lists ${name} twice, or not in the order of the numbers.`),
  ];
}

/** Every Markdown file below a folder of the repository. */
function documents(folder) {
  return files(folder).filter((path) => path.endsWith('.md'));
}

/** Every file below a folder of the repository, without builds and libraries. */
function files(folder) {
  return readdirSync(inRepository(folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return IGNORED_FOLDERS.has(entry.name) ? [] : files(path);
    return [path];
  });
}

/** Links of a document to files or headings that do not exist. Links into the web are left alone. */
function brokenLinks(path) {
  const links = withoutCode(read(path)).matchAll(/\[[^\]]*\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g);
  return [...links].flatMap(([, link]) => {
    if (/^[a-z][a-z0-9+.-]*:/i.test(link)) return [];
    const [file, heading] = link.split('#');
    const target = file === '' ? path : join(dirname(path), decodeURIComponent(file));
    if (!existsSync(inRepository(target))) return [`${path}: the link ${link} leads nowhere.`];
    const isLost = heading !== undefined && target.endsWith('.md') && !headings(target).has(heading);
    return isLost ? [`${path}: ${target} has no heading #${heading}.`] : [];
  });
}

/** Source files that a document names and that are nowhere in the repository. */
function lostFiles(pages) {
  const names = new Set(files('').map((path) => basename(path)));
  return pages
    .filter((path) => !HISTORY.test(path))
    .flatMap((path) => {
      const named = withoutFences(read(path)).matchAll(/`[\w./-]*?([\w.-]+\.(?:tsx?|mjs|sql))`/g);
      const lost = [...named].filter(([, name]) => !names.has(name) && !name.startsWith('NNNN'));
      return lost.map(([text]) => `${path}: there is no file ${text}.`);
    });
}

/** The anchors of a document's headings, as GitHub makes them. */
function headings(path) {
  const seen = new Map();
  const anchors = [...withoutFences(read(path)).matchAll(/^#{1,6}\s+(.+?)\s*#*$/gm)].map(([, title]) => {
    const anchor = title
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-');
    const count = seen.get(anchor) ?? 0;
    seen.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  });
  return new Set(anchors);
}

function withoutFences(text) {
  return text.replace(/^(```|~~~)[\s\S]*?^\1/gm, '');
}

function withoutCode(text) {
  return withoutFences(text).replace(/`[^`\n]*`/g, '');
}

function read(path) {
  return readFileSync(inRepository(path), 'utf8');
}
