import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { readConfig } from '../../src/configuration.ts'
import { makeBackup, backupsIn, removeOldBackups } from '../../src/store/backup/make-backup.ts'
import { MANIFEST, readManifest } from '../../src/store/backup/manifest.ts'
import { findBackup, restoreBackup } from '../../src/store/backup/restore-backup.ts'
import { unusableDirectory } from '../../src/store/data-directory.ts'
import { DATABASE_FILES } from '../../storage/embedded/database-copy.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import type { Storage } from '../../storage/port.ts'
import { sampleBlock } from '../../storage/test/sample-blocks.ts'
import { ownDirectory } from '../own-directory.ts'

const SEED = 3
/** Aborts nothing. */
const ALWAYS = new AbortController().signal
const NOW = Date.UTC(2026, 10, 29)

/** A data folder with a store of some blocks, and a file of keys; and a folder for backups. */
async function world(t: Test, blocks: number) {
  const folder = ownDirectory(t)
  const dataDir = join(folder, 'data')
  mkdirSync(join(dataDir, 'localnet'), { recursive: true })
  writeFileSync(join(dataDir, 'webhook-secret.key'), 'key')
  writeFileSync(join(dataDir, 'localnet', 'seed'), 'seed')
  const storage = await openEmbeddedStorage({ directory: join(dataDir, 'store') })
  for (let index = 0; index < blocks; index++) await storage.blocks.commit(sampleBlock(SEED, index))
  let nowMs = NOW
  const into = join(folder, 'backups')
  const back = (signal = ALWAYS) =>
    makeBackup({
      dataDir,
      into,
      nowMs: (nowMs += 1_000),
      version: '1',
      keyspace: null,
      signal,
      databaseFiles: DATABASE_FILES
    })
  return { folder, dataDir, storage, into, back, restored: join(folder, 'restored') }
}

/** Returns the slots of a store, with the numbers of their rows. */
async function slotsOf({ blocks }: Storage): Promise<object[]> {
  const head = await blocks.head()
  return head === null ? [] : blocks.between(0, head.slot)
}

async function openRestored(directory: string): Promise<object[]> {
  const storage = await openEmbeddedStorage({ directory })
  try {
    if (storage.damage.length > 0) throw new Error(storage.damage.join())
    return await slotsOf(storage)
  } finally {
    await storage.close()
  }
}

t.test(
  'a backup of a store that is being written has all blocks up to one of them, and all files',
  async (t) => {
    const { dataDir, storage, into, back, restored } = await world(t, 40)
    const before = await slotsOf(storage)
    let isDone = false
    const writing = (async () => {
      for (let index = 40; !isDone; index++) await storage.blocks.commit(sampleBlock(SEED, index))
    })()
    const made = await back()
    isDone = true
    await writing
    const after = await slotsOf(storage)
    await storage.close()
    t.match(readdirSync(dataDir).sort(), ['localnet', 'store', 'webhook-secret.key'], 'no snapshot is left')
    t.equal(statSync(made.folder).mode & 0o777, 0o700)
    await restoreBackup(await findBackup(into), restored, ALWAYS)
    t.match(readdirSync(restored).sort(), ['localnet', 'store', 'webhook-secret.key'])
    t.equal(readFileSync(join(restored, 'webhook-secret.key'), 'utf8'), 'key')
    const slots = await openRestored(join(restored, 'store'))
    t.ok(slots.length >= before.length, `${slots.length} of ${after.length}`)
    t.strictSame(slots, after.slice(0, slots.length))
  }
)

t.test(
  'a second backup shares the files that did not change, and stays whole without the first',
  async (t) => {
    const { storage, into, back, restored, dataDir } = await world(t, 60)
    await storage.close()
    // Opened again, the store has its rows in tables.
    await (await openEmbeddedStorage({ directory: join(dataDir, 'store') })).close()
    const first = await back()
    const second = await back()
    t.ok(second.linkedBytes > second.bytes / 2, `${second.linkedBytes} of ${second.bytes}`)
    const [table] = readdirSync(join(first.folder, 'store')).filter((name) => name.endsWith('.ldb'))
    const inode = (folder: string): number => statSync(join(folder, 'store', table!)).ino
    t.equal(inode(first.folder), inode(second.folder))
    t.not(
      inode(first.folder),
      statSync(join(dataDir, 'store', table!)).ino,
      'never shared with the store itself'
    )
    t.strictSame(await removeOldBackups(into, 1), [first.folder.slice(into.length + 1)])
    await restoreBackup(await findBackup(into), restored, ALWAYS)
    t.equal((await openRestored(join(restored, 'store'))).length, 60)
  }
)

t.test(
  'an interrupted backup leaves earlier ones unchanged, and the next one removes its remains',
  async (t) => {
    const { storage, into, back } = await world(t, 20)
    await storage.close()
    const first = await back()
    const end = new AbortController()
    const interrupted = back(end.signal)
    end.abort()
    await t.rejects(interrupted)
    // As after a kill.
    mkdirSync(join(into, '.partial-999999999'))
    t.strictSame((await backupsIn(into)).length, 1)
    t.not(await readManifest(first.folder), null)
    await back()
    t.strictSame(
      readdirSync(into).filter((name) => name.startsWith('.')),
      []
    )
    t.equal((await backupsIn(into)).length, 2)
  }
)

t.test('a damaged or missing file of a backup is named, and nothing is restored', async (t) => {
  const { storage, into, back, restored } = await world(t, 20)
  await storage.close()
  const { folder } = await back()
  const key = join(folder, 'webhook-secret.key')
  writeFileSync(key, 'kex')
  await t.rejects(restoreBackup(await findBackup(into), restored, ALWAYS), {
    message: /webhook-secret\.key is damaged: its checksum differs/
  })
  t.strictSame(readdirSync(restored), ['.restoring'])
  writeFileSync(key, 'key')
  await restoreBackup(await findBackup(into), restored, ALWAYS)
  t.equal((await openRestored(join(restored, 'store'))).length, 20)
})

t.test('a store whose files are damaged gives no backup', async (t) => {
  const { storage, into, back, dataDir } = await world(t, 60)
  await storage.close()
  await (await openEmbeddedStorage({ directory: join(dataDir, 'store') })).close()
  const [table] = readdirSync(join(dataDir, 'store')).filter((name) => name.endsWith('.ldb'))
  const bytes = readFileSync(join(dataDir, 'store', table!))
  bytes[20]! ^= 1
  writeFileSync(join(dataDir, 'store', table!), bytes)
  await t.rejects(back(), { message: /the copy of store is damaged: .*verify --store/ })
  t.strictSame(readdirSync(into), [])
})

t.test('an interrupted restore refuses a start until another restore has completed it', async (t) => {
  const { storage, into, back, restored } = await world(t, 20)
  await storage.close()
  await back()
  const end = new AbortController()
  const restoring = restoreBackup(await findBackup(into), restored, end.signal)
  end.abort()
  await t.rejects(restoring)
  const reading = readConfig(['--data-dir', restored], {})
  if (reading.kind !== 'config') throw new Error(reading.problems.join())
  t.match(await unusableDirectory(reading.config), /was interrupted; rerun `npx millrace restore`/)
  await restoreBackup(await findBackup(into), restored, ALWAYS)
  t.equal(await unusableDirectory(reading.config), null)
})

t.test('a data folder in use, a folder without backups and a later format are refused by name', async (t) => {
  const { storage, into, back, dataDir, folder } = await world(t, 1)
  await storage.close()
  const made = await back()
  await t.rejects(restoreBackup(await findBackup(into), dataDir, ALWAYS), {
    message: /data\/\w.* exists; move it away/
  })
  await t.rejects(findBackup(join(folder, 'nothing')), { message: /nothing has no backup/ })
  const text = readFileSync(join(made.folder, MANIFEST), 'utf8')
  writeFileSync(join(made.folder, MANIFEST), text.replace('"format": 1', '"format": 2'))
  await t.rejects(findBackup(into), {
    message: /the backup .* has format 2, and this version reads format 1: start the version that wrote it/
  })
  for (const path of ['../outside', '/etc/passwd', 'a/../../b'])
    await t.test(path, async (t) => {
      writeFileSync(join(made.folder, MANIFEST), text.replace('"webhook-secret.key"', JSON.stringify(path)))
      await t.rejects(findBackup(into), { message: /is damaged/ })
    })
})
