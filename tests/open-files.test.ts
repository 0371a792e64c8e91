import { afterEach, describe, expect, it } from 'vitest';
import { call } from './support/http.js';
import { newService, type RunningService, startService } from './support/service.js';

let service: RunningService | undefined;
afterEach(() => service?.stop());

describe('a service that may open few files', () => {
  it('does not start when they are too few, and says so in one sentence', async () => {
    service = await newService({ filesMax: 300 });
    await expect(service.start()).rejects.toThrow(
      /It printed:\ntollgate: This process may open 300 files and needs at least 328; raise the limit to 906 or more \(.*\)\.\n$/,
    );
  });

  it('starts with a warning when they leave few connections', async () => {
    service = await startService({ filesMax: 500 });
    expect(service.output).toContain('This process may open 500 files, which leaves 64 HTTP connections;');
    expect((await call(service, 'GET', '/readyz')).body).toMatchObject({ ready: true });
  });

  it('starts without one where there are as many as most systems allow', async () => {
    service = await startService({ filesMax: 1_024 });
    expect(service.output).not.toContain('may open');
  });
});
