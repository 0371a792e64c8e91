/** The browser's time in Unix milliseconds. All code of the console reads the time here. */
export function nowMs(): number {
  return Date.now();
}

export function nowS(): number {
  return Math.floor(nowMs() / 1_000);
}
