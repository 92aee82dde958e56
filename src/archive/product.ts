import { stat } from 'node:fs/promises'
import { archive } from '../../actors/archive/archive.ts'
import { child } from '../../actors/supervision/unit.ts'
import type { Config } from '../kernel/config/config.ts'
import { coverageRoutes } from './routes/coverage.ts'
import type { Storage } from '../../storage/port.ts'
import { archiveGeneration } from './archive-place.ts'
import { archivePlaceOf, archiveStampFile, openArchiveToRead } from '../store/opening.ts'
import { ServedArchive } from './served-archive.ts'
import { beside, capability, type Product } from '../kernel/compose/product.ts'
import { routesWith } from '../kernel/http/http-kernel.ts'

/** Poll interval for the keyspace of an archive, in milliseconds. Each poll opens a connection to the cluster. */
const KEYSPACE_POLL_INTERVAL_MS = 300_000

/** The imported archive: blocks before the first indexed one. */
export const SERVED_ARCHIVE = capability(() => new ServedArchive())

/** Imported blocks from before the first live one, which the Data API continues into. */
export const ARCHIVE: Product = {
  name: 'archive',
  roles: ['gateway'],
  listedAs: 'data',
  units: ({ config, logger, ports: { clock }, get }) => {
    const served = get(SERVED_ARCHIVE)
    const stamp = (current: Storage | null): Promise<string | null> => stampOf(config, current)
    const access = { open: () => openArchiveToRead(config), stamp }
    const rarely = config.storage === 'embedded' ? {} : { absentMs: KEYSPACE_POLL_INTERVAL_MS }
    return [beside('archive', child('reader', archive({ served, ...access, ...rarely, clock, logger })))]
  },
  routes: ({ get }) => {
    const archive = get(SERVED_ARCHIVE)
    return (side) => routesWith({ ...side, archive }, [coverageRoutes])
  }
}

/**
 * Returns a text that changes when the archive must be reopened; null if nothing was imported. An embedded archive must be
 * reopened after each import. A cluster shows later imports without reopening, until another keyspace becomes the archive.
 */
async function stampOf(config: Config, current: Storage | null): Promise<string | null> {
  if (config.storage !== 'embedded')
    return `generation ${current === null ? (await archivePlaceOf(config)).generation : await archiveGeneration(current)}`
  const file = await stat(archiveStampFile(config)).catch(() => null)
  return file === null ? null : String(file.mtimeMs)
}
