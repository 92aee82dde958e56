/** Returns the refusal of stored data of a newer format: both formats, and what to do. `read` ascends. */
export function formatRefusal(what: string, format: number, read: readonly number[]): string {
  const known = read.length === 1 ? `format ${read[0]}` : `formats ${read.join(' and ')}`
  return (
    `${what} has format ${format}, and this version reads ${known}: ` +
    'start the version that wrote it or a later one, or restore a backup from before the upgrade (src/docs/upgrade.md)'
  )
}
