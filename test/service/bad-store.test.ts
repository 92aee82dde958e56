import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { formatKey } from '../../storage/codec/keys.ts'
import { formatKind } from '../../storage/codec/kinds.ts'
import { packRecord } from '../../storage/codec/record.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { sampleBlock } from '../../storage/test/sample-blocks.ts'
import { withRawStore } from '../storage/embedded-directory.ts'
import { runMillrace } from './service-process.ts'
import { storedRows } from './stored-rows.ts'

/** Starts the service on a data directory and returns its exit. */
const failing = (dataDir: string, recordedDir: string) =>
  runMillrace([
    ...['serve', '--source', 'recorded', '--recorded-dir', recordedDir],
    ...['--data-dir', dataDir, '--port', '0']
  ])

/** Makes a store of two blocks. */
async function fill(directory: string): Promise<void> {
  const storage = await openEmbeddedStorage({ directory })
  for (const index of [0, 1]) await storage.blocks.commit(sampleBlock(3, index))
  await storage.close()
}

t.test('a store that cannot be opened ends the start with 1, and one line says why', async (t) => {
  const directory = t.testdir({ blocks: {}, locked: {}, corrupt: {}, newer: {}, foreign: { store: {} } })
  const store = (name: string): string => join(directory, name, 'store')
  for (const name of ['locked', 'corrupt', 'newer']) await fill(store(name))
  const before = await storedRows(store('locked'))
  writeFileSync(join(store('corrupt'), 'CURRENT'), 'no manifest is called so')
  await withRawStore(store('newer'), (raw) =>
    raw.put(formatKey(), Buffer.from(packRecord(formatKind, formatKey(), 99)))
  )
  await withRawStore(store('foreign'), (raw) => raw.put(Buffer.from('anything'), Buffer.from('else')))

  const fail = (name: string) => failing(join(directory, name), join(directory, 'blocks'))
  const [locked, corrupt, newer, foreign] = await withRawStore(store('locked'), () =>
    Promise.all([fail('locked'), fail('corrupt'), fail('newer'), fail('foreign')])
  )
  for (const [name, { stdout, stderr, code }, reason] of [
    ['locked', locked, /is open in another process/],
    ['corrupt', corrupt, /cannot be opened: .*(Corruption|CURRENT|manifest|IO error)/i],
    ['newer', newer, /has format 99, and this version reads formats 3 to 7: start the version/],
    ['foreign', foreign, /holds something else than a store/]
  ] as const) {
    t.equal(code, 1, name)
    t.equal(stdout, '', 'it never says that it listens')
    const told = stderr.split('\n').filter((line) => line.startsWith('millrace: '))
    t.equal(told.length, 1, `${name}: one line`)
    t.match(told[0], reason)
    t.match(told[0], `MILLRACE_DATA_DIR=${join(directory, name)}`)
    t.notMatch(stderr, /"stack"|\n\s+at /, `${name}: no stack trace`)
  }
  t.strictSame(await storedRows(store('locked')), before, 'the store of the other process is as it was')
})
