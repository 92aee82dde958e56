import { mkdir } from 'node:fs/promises'
import type { Config } from '../../kernel/config/config.ts'
import { ServiceError } from '../../kernel/errors.ts'
import { sleep, systemPorts } from '../../ports.ts'
import type { ArchivePlace } from '../archive-place.ts'
import { archiveConfigOf, archivePlaceOf, openArchive, openCoordination } from '../../store/opening.ts'
import type { Lease, Leases } from '../../../storage/cluster/coordination.ts'
import type { Storage } from '../../../storage/port.ts'

/** The archive, locked against imports by other processes. */
export interface OwnArchive {
  readonly storage: Storage
  readonly place: ArchivePlace
  /** Aborts once another process may import. */
  readonly lost: AbortSignal
  close(): Promise<void>
}

/** Milliseconds to wait for the lease of an ended import. A lease that is not renewed ends after 3 s. */
const LEASE_WAIT_MS = 5_000
const LEASE_AGAIN_MS = 500

/**
 * Opens the archive for one import at a time. Only one process can open an embedded store; on a cluster the import has a
 * lease, if Redis is configured. Rejects with STORAGE_UNAVAILABLE, in one line, while another import runs.
 */
export async function openOwnArchive(
  config: Config,
  complain: (line: string) => void,
  signal: AbortSignal
): Promise<OwnArchive> {
  const archive = archiveConfigOf(config)
  const logger = {
    info: () => undefined,
    warn: (facts: unknown, text = String(facts)) => complain(text)
  }
  const peers = await openCoordination(archive, logger)
  let lease: Lease | null = null
  const close = async (): Promise<void> => {
    await lease?.release()
    await peers.close()
  }
  try {
    if (peers.leases !== null) lease = await importLease(peers.leases, signal)
    if (config.storage === 'embedded') await mkdir(archive.dataDir, { recursive: true })
    const place = await archivePlaceOf(config)
    const storage = await openArchive(config, systemPorts, place)
    return {
      storage,
      place,
      lost: lease?.lost ?? new AbortController().signal,
      close: async () => {
        await storage.close()
        await close()
      }
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function importLease(leases: Leases, signal: AbortSignal): Promise<Lease> {
  const { clock } = systemPorts
  const untilMs = clock.now() + LEASE_WAIT_MS
  for (;;) {
    const lease = await leases.acquire('import')
    if (lease !== null) return lease
    if (clock.now() >= untilMs || signal.aborted)
      throw new ServiceError(
        'STORAGE_UNAVAILABLE',
        'another import is running, or Redis does not answer; wait until it ends, or start Redis'
      )
    await sleep(clock, LEASE_AGAIN_MS, signal)
  }
}
