import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { archive } from '../../actors/archive/archive.ts'
import { child } from '../../actors/supervision/unit.ts'
import type { Config } from '../config/config.ts'
import { coverageRoutes } from '../http/routes/coverage.ts'
import { archiveConfigOf, openArchiveToRead } from './opening.ts'
import type { Product } from './product.ts'

/** Imported blocks from before the first live one, which the Data API continues into. */
export const ARCHIVE: Product = {
  name: 'archive',
  roles: ['gateway'],
  settings: {},
  units: ({ config, logger, archive: served, ports: { clock } }) => {
    const open = () => openArchiveToRead(config)
    return [child('archive', archive({ served, open, stamp: () => stampOf(config), clock, logger }))]
  },
  routes: [coverageRoutes]
}

/** Returns the file that an import writes whenever its blocks may be read. */
export function archiveStampFile(config: Pick<Config, 'dataDir'>): string {
  return join(config.dataDir, 'archive', 'imported.json')
}

/** Returns when blocks were imported last; null if never. A cluster is opened once, and shows later imports by itself. */
async function stampOf(config: Config): Promise<string | null> {
  if (config.storage !== 'embedded') return archiveConfigOf(config).scyllaKeyspace
  const file = await stat(archiveStampFile(config)).catch(() => null)
  return file === null ? null : String(file.mtimeMs)
}
