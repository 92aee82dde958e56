import { stat } from 'node:fs/promises'
import { archive } from '../../actors/archive/archive.ts'
import { child } from '../../actors/supervision/unit.ts'
import type { Config } from '../config/config.ts'
import { coverageRoutes } from '../http/routes/coverage.ts'
import { archiveConfigOf, archiveStampFile, openArchiveToRead } from './opening.ts'
import type { Product } from './product.ts'

/** Milliseconds between two looks for the keyspace of an archive. Chosen: each opens a connection to the cluster. */
const KEYSPACE_LOOK_MS = 300_000

/** Imported blocks from before the first live one, which the Data API continues into. */
export const ARCHIVE: Product = {
  name: 'archive',
  roles: ['gateway'],
  settings: {},
  units: ({ config, logger, archive: served, ports: { clock } }) => {
    const access = { open: () => openArchiveToRead(config), stamp: () => stampOf(config) }
    const rarely = config.storage === 'embedded' ? {} : { absentMs: KEYSPACE_LOOK_MS }
    return [child('archive', archive({ served, ...access, ...rarely, clock, logger }))]
  },
  routes: [coverageRoutes]
}

/** Returns when blocks were imported last; null if never. A cluster is opened once, and shows later imports by itself. */
async function stampOf(config: Config): Promise<string | null> {
  if (config.storage !== 'embedded') return archiveConfigOf(config).scyllaKeyspace
  const file = await stat(archiveStampFile(config)).catch(() => null)
  return file === null ? null : String(file.mtimeMs)
}
