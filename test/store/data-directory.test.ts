import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readConfig } from '../../src/configuration.ts'
import { mixedDataRefusal } from '../../src/store/data-directory.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { emptyBlock } from '../../storage/test/sample-blocks.ts'
import { ownDirectory } from '../own-directory.ts'

function configOf(dataDir: string, source: string) {
  const reading = readConfig(['--data-dir', dataDir, '--source', source], {})
  if (reading.kind !== 'config') throw new Error(reading.problems.join())
  return reading.config
}

t.test('a data folder is refused for a localnet once it has a block of another source', async (t) => {
  const dataDir = ownDirectory(t)
  const directory = join(dataDir, 'store')
  const refusal = (): Promise<string | null> => mixedDataRefusal(configOf(dataDir, 'localnet'))
  t.equal(await refusal(), null, 'a new folder')
  await (await openEmbeddedStorage({ directory })).close()
  t.equal(await refusal(), null, 'begun with a node that never gave a block')
  const storage = await openEmbeddedStorage({ directory })
  t.equal(await refusal(), null, 'a store that another process has open is read beside it')
  await storage.blocks.commit(emptyBlock(1))
  await storage.close()
  t.match(await refusal(), /holds blocks of another chain/)
  t.equal(await mixedDataRefusal(configOf(dataDir, 'recorded')), null)
})

t.test('a store that cannot be read counts as one with blocks', async (t) => {
  const dataDir = ownDirectory(t)
  mkdirSync(join(dataDir, 'store'))
  writeFileSync(join(dataDir, 'store', 'CURRENT'), 'no manifest')
  t.match(await mixedDataRefusal(configOf(dataDir, 'localnet')), /holds blocks of another chain/)
})
