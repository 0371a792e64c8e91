/** Milliseconds since 1970, as the browser has them: the one place of the console that asks for the time. */
export function nowMs(): number {
  return Date.now();
}

export function nowS(): number {
  return Math.floor(nowMs() / 1_000);
}
