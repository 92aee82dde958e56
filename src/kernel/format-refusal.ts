/** Returns the refusal of stored data of a newer format than this version reads: both formats, and what to do. */
export function formatRefusal(what: string, format: number, newest: number, oldest = newest): string {
  const known = oldest === newest ? `format ${newest}` : `formats ${oldest} to ${newest}`
  return (
    `${what} has format ${format}, and this version reads ${known}: ` +
    'start the version that wrote it or a later one, or restore a backup from before the upgrade (src/docs/upgrade.md)'
  )
}
