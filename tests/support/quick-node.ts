import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { format } from 'node:util';
import { runInThisContext } from 'node:vm';

export interface QuickNode {
  /** Contains the program `node`: put it first into a PATH. */
  readonly folder: string;
  close(): void;
}

/**
 * Stands in for `node -pe`, with which scripts print fields of JSON: a start of Node.js takes five times as long as the
 * command before it. This process evaluates the expression, which may read its input and nothing else.
 */
export async function startQuickNode(parent: string): Promise<QuickNode> {
  const folder = join(parent, 'quick-node');
  const socket = join(folder, 'socket');
  mkdirSync(folder);
  const server = createServer((request, response) => {
    printed(request).then(
      (line) => response.end(`${line}\n`),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  const ask = `curl -sS --fail-with-body --unix-socket '${socket}' http://localhost/`;
  const script = `#!/bin/sh
if [ "$1" = -pe ]; then exec ${ask} --form-string "expression=$2" --form 'input=<-'; fi
exec '${process.execPath}' "$@"
`;
  writeFileSync(join(folder, 'node'), script, { mode: 0o755 });
  return {
    folder,
    close: () => {
      server.close();
    },
  };
}

/** Returns what `node -pe` prints. */
async function printed(request: IncomingMessage): Promise<string> {
  const headers = { 'content-type': request.headers['content-type'] ?? '' };
  const form = await new Response(await text(request), { headers }).formData();
  const evaluate = runInThisContext(`(require) => (${form.get('expression')})`);
  return format(evaluate(() => ({ readFileSync: () => form.get('input') })));
}
