import type { BlockSource } from '../../src/node/block-source.ts'
import { ServiceError } from '../../src/kernel/errors.ts'
import type { Storage } from '../../storage/port.ts'
import { ingest } from '../ingest/ingest.ts'
import type { IngesterDeps } from '../ingest/ingester.ts'

/**
 * Ingests the blocks of a source that ends into an archive, with the process that ingests live blocks.
 *
 * A1. Each block is one durable commit after the archive's head, so that an interrupted import continues there.
 * A2. Resolves after the last block of the source, or once `end` aborts and the blocks in flight are committed.
 *
 * Rejects with the first failure, and with STORAGE_UNAVAILABLE for a damaged archive.
 */
export async function importBlocks(
  storage: Storage,
  source: BlockSource,
  deps: IngesterDeps,
  end: AbortSignal
): Promise<void> {
  const [damage] = storage.damage
  if (damage !== undefined)
    throw new ServiceError(
      'STORAGE_UNAVAILABLE',
      `the archive is damaged: ${damage}; run \`npx millrace repair\` with its folder as --data-dir`
    )
  const atEnd = new AbortController()
  const draining = AbortSignal.any([end, atEnd.signal])
  await ingest(deps)({
    input: {
      storage,
      source: {
        ...source,
        async *blocks(from) {
          yield* source.blocks(from)
          // Ingest waits for more blocks until it is drained, and commits those in flight first.
          atEnd.abort()
        }
      }
    },
    draining,
    signal: draining,
    ready: () => undefined,
    gauge: () => undefined,
    supervises: () => undefined,
    show: () => undefined,
    report: (error) => deps.logger.warn({ err: error }, 'the import has a fault')
  })
}
