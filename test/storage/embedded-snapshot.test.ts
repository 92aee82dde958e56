import { randomBytes } from 'node:crypto'
import { copyFileSync, cpSync, mkdirSync, readdirSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import t from 'tap'
import { checkStore, NOTHING_TRUSTED } from '../../storage/embedded/engine-files/store-check.ts'
import type { ServiceError } from '../../src/kernel/errors.ts'
import { snapshotStore } from '../../storage/embedded/engine-files/snapshot.ts'
import { readTrustedFiles } from '../../storage/embedded/engine-files/trusted-files.ts'
import { openEmbeddedSnapshot } from '../../storage/embedded/snapshot.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { filesOf, fillSettled, zero } from './damaged-store.ts'

const KEYS = Array.from({ length: 26 }, (_, at) => String.fromCharCode(97 + at))

type Level = ClassicLevel<string, string>

t.test('each snapshot of a store beside its writer is the state after one of its commits', async (t) => {
  const directory = join(t.testdir(), 'store')
  // Small files, so that logs and tables come and go while snapshots are made.
  const level: Level = new ClassicLevel(directory, { writeBufferSize: 64 * 1024, maxFileSize: 1024 * 1024 })
  await level.open()
  let commit = 0
  let isDone = false
  const write = async (): Promise<void> => {
    commit++
    const marks = KEYS.map((key) => ({ type: 'put' as const, key, value: String(commit) }))
    const key = `~${commit % 500}`
    await level.batch([...marks, { type: 'put', key, value: randomBytes(4_000).toString('base64') }], {
      sync: false
    })
  }
  await write()
  const writing = (async () => {
    while (!isDone) await write()
  })()
  const seen: number[] = []
  const tables = new Set<string>()
  for (let n = 0; n < 40; n++) {
    const [into, before] = [join(t.testdirName, `snapshot-${n}`), commit]
    t.equal(await snapshotStore(directory, into), true)
    for (const name of readdirSync(into)) if (name.endsWith('.ldb')) tables.add(name)
    const copy: Level = new ClassicLevel(into, { createIfMissing: false })
    await copy.open()
    // Writes to the copy leave the store unchanged.
    for (let n = 0; n < 5; n++) await copy.put(`~${n}`, randomBytes(50_000).toString('base64'))
    await copy.compactRange('a', '~~')
    const marks = new Set((await copy.getMany(KEYS)).map(Number))
    await copy.close()
    t.equal(marks.size, 1, `all keys are of one commit: ${[...marks].join(', ')}`)
    const [mark] = marks
    t.ok(mark! >= (seen.at(-1) ?? 0) && mark! <= commit, `${mark} after ${before}`)
    seen.push(mark!)
  }
  isDone = true
  await writing
  await level.close()
  const { tables: damaged, fatal, checked } = await checkStore(directory, NOTHING_TRUSTED)
  t.same([damaged, fatal], [[], []], 'no snapshot has changed the store')
  t.ok(checked.files > 1)
  t.ok(new Set(seen).size > 10, `${new Set(seen).size} states`)
  t.ok(tables.size > 20, `${tables.size} tables came`)
})

t.test('a snapshot without a table of its manifest is not taken for one', async (t) => {
  const directory = join(t.testdir(), 'store')
  const level: Level = new ClassicLevel(directory)
  await level.open()
  await level.put('a', 'b')
  await level.compactRange('a', 'z')
  await level.close()
  const [table] = readdirSync(directory).filter((name) => name.endsWith('.ldb'))
  const broken = join(t.testdirName, 'broken')
  mkdirSync(broken)
  for (const name of readdirSync(directory).filter((each) => /^(CURRENT|MANIFEST)/.test(each)))
    copyFileSync(join(directory, name), join(broken, name))
  t.ok(table)
  t.equal(await snapshotStore(broken, join(t.testdirName, 'into')), false)
})

t.test('a table is checked by the first snapshot of a process, and trusted by the next', async (t) => {
  const directory = join(t.testdir(), 'store')
  const elsewhere = join(t.testdirName, 'elsewhere')
  await fillSettled(directory, 20)
  const opened = (store: string): Promise<string> =>
    openEmbeddedSnapshot({ directory: store }).then(
      async (snapshot) => {
        await snapshot.close()
        return 'sound'
      },
      (error: ServiceError) => error.detail
    )
  const table = join(directory, filesOf(directory, /\.ldb$/)[0]!)
  utimesSync(table, 1_000, 1_000)
  t.equal(await opened(directory), 'sound')
  // The checksum of the index, which the engine does not read.
  zero(table, statSync(table).size - 52, 4)
  cpSync(directory, elsewhere, { recursive: true })
  t.match(await opened(elsewhere), 'is damaged')
  t.match(await opened(directory), 'is damaged', 'it was written since')
  utimesSync(table, 1_000, 1_000)
  t.equal(await opened(directory), 'sound', 'it is not read again')
})

t.test('the tables of a closed store stay trusted when a snapshot has linked them', async (t) => {
  const directory = join(t.testdir(), 'store')
  await fillSettled(directory, 20)
  await (await openEmbeddedStorage({ directory })).close()
  const [table] = filesOf(directory, /\.ldb$/)
  t.equal(await (await readTrustedFiles(directory)).trusts(table!), true)
  const snapshot = await openEmbeddedSnapshot({ directory })
  t.equal(await (await readTrustedFiles(directory)).trusts(table!), true)
  await snapshot.close()
  t.equal(await (await readTrustedFiles(directory)).trusts(table!), true)
  zero(join(directory, table!), 5_000)
  t.equal(await (await readTrustedFiles(directory)).trusts(table!), false)
})
