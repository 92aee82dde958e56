import { sizeText } from '../../kernel/cli/size-text.ts'
import type { StorageBody } from '../bodies/storage.ts'

/**
 * Returns a warning of partitions above 100 MB, and the size from which the nodes know them. Empty for the embedded store,
 * which has no partitions.
 */
export function partitionLines({
  large_partitions: large,
  free_bytes: free
}: Pick<StorageBody, 'large_partitions' | 'free_bytes'>): string[] {
  if (large === null) return free === null ? ['the nodes do not report the sizes of their partitions'] : []
  const known = `the nodes report partitions from ${sizeText(large.known_from_bytes)} on`
  if (large.partitions.length === 0) return [`no partition above 100 MB is known: ${known}`]
  return [
    `warning: partitions above 100 MB slow down reads, compaction and repair (${known}):`,
    ...large.partitions.map(
      ({ table, bytes, key }) => `  ${table}: ${sizeText(bytes)}${key === null ? '' : `, key ${key}`}`
    )
  ]
}
