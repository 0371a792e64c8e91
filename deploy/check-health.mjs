// `node check-health.mjs /healthz|/readyz`: ends with 0 if the service on this machine returns 200, otherwise with 1.
// Containers run it, because their image has no curl.
const TIMEOUT_MS = 4_000;

const [path = '/healthz'] = process.argv.slice(2);
const url = `http://127.0.0.1:${process.env.PORT || 8080}${path}`;
try {
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  // The body names the checks that failed; Docker shows it with the state of the container.
  console.log(await response.text());
  process.exitCode = response.ok ? 0 : 1;
} catch (error) {
  console.error(`${url} cannot be read: ${error.cause?.message ?? error.message}`);
  process.exitCode = 1;
}
