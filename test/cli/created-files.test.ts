import { chmodSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { bootstrapKeys } from '../../src/access/bootstrap.ts'
import { storeDirectory } from '../../src/store/opening.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { recordedMarket } from '../archive/recorded-market.ts'
import { FaultyNode, jsonChain } from '../node/faulty-node.ts'
import { range } from '../node/scripted-node.ts'
import { ADMIN_KEY, runMillrace } from '../service/service-process.ts'

/** Returns a folder and all below it: its mode and path by inode, which does not change when a file is renamed. */
function modesOf(folder: string): Map<number, string> {
  const paths = [
    folder,
    ...readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path))
  ]
  return new Map(
    paths.map((path) => {
      const { ino, mode } = statSync(path)
      return [ino, `${(mode & 0o777).toString(8)} ${path}`]
    })
  )
}

/** Asserts that a folder and all below it, except the inodes of `others`, is for its user alone. */
function assertPrivate(t: Test, folder: string, others: ReadonlyMap<number, string> = new Map()): void {
  const modes = [...modesOf(folder)].filter(([inode]) => !others.has(inode)).map(([, mode]) => mode)
  t.ok(modes.length > 0, 'there is something to look at')
  t.strictSame(
    modes.filter((mode) => !/^[67]00 /.test(mode)),
    []
  )
}

t.test('blocks that are recorded are for their user alone', async (t) => {
  const node = await FaultyNode.start(t, jsonChain(range(100, 105)))
  const folder = join(t.testdir(), 'blocks')
  const { code, stderr } = await runMillrace([
    'record',
    '100..104',
    '--rpc-url',
    node.url,
    '--recorded-dir',
    folder
  ])
  t.equal(code, 0, stderr)
  t.equal(modesOf(folder).size, 6)
  assertPrivate(t, folder)
})

t.test(
  'an import makes a data folder for its user alone, and closes one that is open to others',
  async (t) => {
    const market = await recordedMarket(t, 'created files', 6)
    const dataDirs = ['new', 'open'].map((name) => `${market.directory}-${name}`)
    mkdirSync(dataDirs[1]!)
    chmodSync(dataDirs[1]!, 0o755)
    for (const dataDir of dataDirs) {
      const { code, stderr } = await runMillrace([
        'archive',
        'import',
        market.directory,
        '--data-dir',
        dataDir
      ])
      t.equal(code, 0, stderr)
      t.ok(modesOf(dataDir).size > 1, 'an archive was made')
      assertPrivate(t, dataDir)
    }
  }
)

t.test('files that an administration command adds to a store are for their user alone', async (t) => {
  const dataDir = join(t.testdir({ data: {} }), 'data')
  const storage = await openEmbeddedStorage({ directory: storeDirectory({ dataDir }) })
  await bootstrapKeys(storage, { adminKey: ADMIN_KEY, hasDemo: true }, 1)
  await storage.close()
  const before = modesOf(dataDir)
  const { code, stderr } = await runMillrace(['keys', 'create', '--tenant', 'demo', '--data-dir', dataDir])
  t.equal(code, 0, stderr)
  assertPrivate(t, dataDir, before)
})
