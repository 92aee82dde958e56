/** `YYYY-MM-DD HH:MM:SS` in UTC, of unix seconds. */
export function secondsText(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString().slice(0, 19).replace('T', ' ')
}

/** `YYYY-MM-DD HH:MM:SS.mmm` in UTC, of unix milliseconds. */
export function millisecondsText(unixMs: number): string {
  return new Date(unixMs).toISOString().slice(0, 23).replace('T', ' ')
}
