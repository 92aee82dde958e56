import { mkdir } from 'node:fs/promises'
import type { Config } from '../../kernel/config/config.ts'
import { ERRORS, ServiceError } from '../../kernel/errors.ts'
import { sleep, systemPorts } from '../../ports.ts'
import type { ArchivePlace } from '../archive-place.ts'
import { StoredState } from '../facts/import-state.ts'
import { openCoordination } from '../../store/coordination.ts'
import { archiveConfigOf, archivePlaceOf, openArchive, openArchiveFacts } from '../../store/opening.ts'
import type { Lease, Leases } from '../../../storage/cluster/coordination.ts'
import type { FactStore, Storage } from '../../../storage/port.ts'
import { beginState } from './earlier-archive.ts'

/** The archive and its facts, locked against imports by other processes. */
export interface OwnArchive {
  readonly storage: Storage
  readonly facts: FactStore
  readonly state: StoredState
  readonly place: ArchivePlace
  /** Aborts once another process may import. */
  readonly lost: AbortSignal
  /** Closes the store alone, so that another one can replace it. */
  closeStorage(): Promise<void>
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
  const opened: { close(): Promise<void> }[] = [peers]
  const close = async (): Promise<void> => {
    for (const each of opened.splice(0).reverse()) await each.close()
  }
  try {
    let lost = new AbortController().signal
    if (peers.leases !== null) {
      const lease = await importLease(peers.leases, signal)
      opened.push({ close: () => lease.release() })
      ;({ lost } = lease)
    }
    if (config.storage === 'embedded') await mkdir(archive.dataDir, { recursive: true })
    const facts = await openArchiveFacts(config)
    opened.push(facts)
    const place = await archivePlaceOf(config)
    const state = (await StoredState.read(facts)) ?? (await beginState(config, place, facts, complain))
    const storage = await openArchive(config, systemPorts, place)
    const closeStorage = async (): Promise<void> => {
      const at = opened.indexOf(storage)
      if (at >= 0) await opened.splice(at, 1)[0]!.close()
    }
    opened.push(storage)
    return { storage, facts, state, place, lost, closeStorage, close }
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
        ERRORS.STORAGE_UNAVAILABLE,
        'another import is running, or Redis does not answer; wait until it ends, or start Redis'
      )
    await sleep(clock, LEASE_AGAIN_MS, signal)
  }
}
