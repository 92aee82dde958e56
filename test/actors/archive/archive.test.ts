import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { isAdjacent } from '../../../actors/archive/adjacency.ts'
import { archive } from '../../../actors/archive/archive.ts'
import { recordArchivedRanges } from '../../../src/archive/archived-ranges.ts'
import { ServedArchive } from '../../../src/archive/served-archive.ts'
import { recordDecoding } from '../../../src/ingest/decoding-periods.ts'
import { ERRORS, ServiceError } from '../../../src/kernel/errors.ts'
import { openArchive, openArchiveToRead } from '../../../src/store/opening.ts'
import { openEmbeddedStorage } from '../../../storage/embedded/store.ts'
import type { Storage } from '../../../storage/port.ts'
import { emptyBlock } from '../../../storage/test/sample-blocks.ts'
import { configIn } from '../../archive/recorded-market.ts'
import { ownDirectory } from '../../own-directory.ts'
import { filesOf, zero } from '../../storage/damaged-store.ts'
import { until } from '../../until.ts'
import { virtualClock, settle } from '../../virtual-time.ts'

/** A store of which the unit reads the ends of its blocks. */
class Ends {
  closed = 0
  damage: string[] = []
  first: number | null
  last: number | null

  constructor(first: number | null, last: number | null) {
    this.first = first
    this.last = last
  }

  get storage(): Storage {
    return this as unknown as Storage
  }

  readonly blocks = {
    head: async () => (this.last === null ? null : { slot: this.last, blockTime: this.last }),
    firstSince: async () => this.first,
    at: async (slot: number) => ({ slot, blockTime: slot })
  }

  async close(): Promise<void> {
    this.closed++
  }
}

/** Traces of an import. */
interface Opening {
  stamp: string | null
  opens: () => Promise<Storage | null>
}

/** Runs the unit on a virtual clock, up to its first look. */
async function started(t: Test, live: Ends, begins: Opening = { stamp: null, opens: async () => null }) {
  const clock = virtualClock()
  const served = new ServedArchive()
  const lines: { readonly msg: string }[] = []
  const logger = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line) as never) })
  const drain = new AbortController()
  const reported: unknown[] = []
  const world = {
    served,
    lines,
    reported,
    ...begins,
    changes: 0,
    isReady: false,
    reports: () => reported.map((error) => (error as Error).message),
    async look(ms = 30_000) {
      clock.increment(ms)
      for (let turn = 0; turn < 5; turn++) await settle()
    },
    async end() {
      drain.abort()
      await running
    }
  }
  served.onChange(() => void world.changes++)
  const running = archive({
    served,
    open: () => world.opens(),
    stamp: async () => world.stamp,
    clock,
    logger
  })({
    input: { storage: live.storage },
    draining: drain.signal,
    signal: drain.signal,
    ready: () => (world.isReady = true),
    gauge: () => undefined,
    supervises: () => undefined,
    show: () => undefined,
    report: (error) => void reported.push(error)
  })
  t.teardown(() => world.end())
  await world.look(0)
  return world
}

t.test('an archive that is imported later is served, and a later import replaces it', async (t) => {
  const world = await started(t, new Ends(100, 200))
  t.equal(world.isReady, true)
  t.equal(world.served.standing, null)
  const [one, two] = [new Ends(10, 20), new Ends(10, 30)]
  world.opens = async () => one.storage
  await world.look()
  t.equal(world.served.current, null, 'nothing is imported')
  world.stamp = 'first'
  await world.look()
  t.match(world.served.current, { first: { slot: 10 }, last: { slot: 20 } })
  world.opens = async () => two.storage
  await world.look()
  t.equal(world.served.current?.last.slot, 20, 'the stamp is the same')
  world.stamp = 'second'
  await world.look()
  t.equal(world.served.current?.last.slot, 30)
  t.equal(world.changes, 2)
  t.equal(one.closed, 0, 'answers may still read it')
  await world.look(60_000)
  t.equal(one.closed, 1)
  await world.end()
  t.equal(two.closed, 1)
  t.equal(world.served.standing, null)
  t.strictSame(
    world.lines.map(({ msg }) => msg),
    ['the archive is served', 'the archive is served']
  )
})

t.test('an archive on a cluster, whose stamp never changes, is served once it exists', async (t) => {
  const world = await started(t, new Ends(100, 200))
  world.stamp = 'the keyspace'
  await world.look()
  t.equal(world.served.standing, null)
  world.opens = async () => new Ends(10, 20).storage
  await world.look()
  t.equal(world.served.current?.last.slot, 20)
})

t.test('an archive that does not end before the first live slot is not served, and says why', async (t) => {
  const live = new Ends(null, null)
  const world = await started(t, live)
  world.stamp = 'first'
  world.opens = async () => new Ends(10, 100).storage
  await world.look()
  t.equal(world.served.current?.last.slot, 100, 'nothing is indexed yet')
  live.first = 100
  await world.look(1_000)
  t.equal(world.served.current, null)
  t.match(world.served.standing, {
    archive: { last: { slot: 100 } },
    reason: /^it ends at slot 100, not before .* 100/
  })
  await world.look()
  t.equal(world.lines.length, 2, 'it is said once')
})

t.test('an archive that cannot be opened is reported once, and served once it can', async (t) => {
  const world = await started(t, new Ends(100, 200))
  world.stamp = 'first'
  world.opens = () => Promise.reject(new ServiceError(ERRORS.STORAGE_UNAVAILABLE, 'its files are torn'))
  await world.look()
  await world.look()
  t.match(world.served.standing, { archive: null, reason: 'its files are torn' })
  t.strictSame(world.reports(), ['the archive is not served: its files are torn'])
  const damaged = new Ends(10, 20)
  damaged.damage = ['table 7 is torn']
  world.opens = async () => damaged.storage
  world.stamp = 'second'
  await world.look()
  t.match(world.served.standing, { reason: 'table 7 is torn' })
  t.equal(world.reports().at(-1), 'the archive is not served: table 7 is torn')
  world.stamp = 'third'
  world.opens = async () => new Ends(10, 20).storage
  await world.look()
  t.equal(world.served.current?.last.slot, 20)
  world.stamp = 'fourth'
  world.opens = () => Promise.reject(new ServiceError(ERRORS.STORAGE_UNAVAILABLE, 'the disk is full'))
  await world.look()
  await world.look()
  t.equal(world.served.current?.last.slot, 20, 'the rows of earlier imports stay')
  t.strictSame(world.reports().slice(2), ['later imports are not served: the disk is full'])
  t.strictSame(
    world.lines.map(({ msg }) => msg),
    ['the archive is served'],
    'the log has each fault from its report'
  )
})

t.test('an archive whose files are torn is not served, and the unit goes on', async (t) => {
  const dataDir = ownDirectory(t)
  const config = configIn(dataDir)
  const store = join(dataDir, 'archive', 'store')
  mkdirSync(join(dataDir, 'archive'))
  const imported = await openArchive(config)
  await imported.blocks.commit(emptyBlock(1))
  await imported.close()
  zero(join(store, filesOf(store, /^MANIFEST-/)[0]!), 0)
  const world = await started(t, new Ends(100, 200))
  world.opens = () => openArchiveToRead(config)
  world.stamp = 'first'
  await world.look()
  await until(async () => world.served.standing !== null, 'the archive is judged')
  t.match(world.served.standing, { archive: null, reason: /cannot be opened: MANIFEST-\d+.* is damaged/ })
  t.equal(world.reported.length, 1)
  t.strictSame(
    readdirSync(join(dataDir, 'archive')).filter((name) => name.includes('snapshot')),
    []
  )
})

t.test(
  'a start waits two seconds for an archive that takes longer to open, which is served then',
  async (t) => {
    const opened = Promise.withResolvers<Storage | null>()
    const world = await started(t, new Ends(100, 200), { stamp: 'first', opens: () => opened.promise })
    await world.look(1_999)
    t.equal(world.isReady, false)
    await world.look(1)
    t.equal(world.isReady, true)
    t.equal(world.served.standing, null)
    opened.resolve(new Ends(10, 20).storage)
    await world.look(0)
    t.equal(world.served.current?.last.slot, 20)
  }
)

t.test(
  'an archive is adjacent if the first live block follows it and it has the venues of that block',
  async (t) => {
    const directory = ownDirectory(t)
    const opened = async (name: string): Promise<Storage> => {
      const storage = await openEmbeddedStorage({ directory: join(directory, name) })
      t.teardown(() => storage.close())
      return storage
    }
    const [imported, live] = [await opened('imported'), await opened('live')]
    const blockOf = (slot: number, parentSlot: number | null) => {
      const commit = emptyBlock(slot)
      return { ...commit, slot: { ...commit.slot, slot, parentSlot } }
    }
    const last = blockOf(100, 99)
    await recordDecoding(imported, null, new Set(['pumpswap', 'orca-whirlpool']))
    await imported.blocks.commit(last)
    await recordDecoding(live, null, new Set(['pumpswap']))
    await live.blocks.commit(blockOf(103, 100))
    const [first] = [last.slot]
    const archived = { storage: imported, first, last: first }
    t.equal(await isAdjacent(archived, live, 103), true, 'the chain skipped 101 and 102')
    const earlier = { ...archived, last: { ...first, slot: 99 } }
    t.equal(await isAdjacent(earlier, live, 103), false, 'block 100 is missing')
    const whole = { from: 100, to: 100, origin: 'blocks', names: [], columns: [], decoderVersion: 2 } as const
    const row = { ...whole, origin: 'file', decoderVersion: null } as const
    for (const [ranges, expected] of [
      [[{ ...whole, venues: ['pumpswap'] }], true],
      [[{ ...row, venues: ['pumpswap'] }], false],
      [[{ ...whole, venues: ['phoenix'] }], false],
      [[{ ...whole, venues: null }], false],
      [[{ ...whole, to: 99, venues: ['pumpswap'] }], false]
    ] as const) {
      await recordArchivedRanges(imported, ranges)
      t.equal(await isAdjacent(archived, live, 103), expected, JSON.stringify(ranges))
    }
    await recordArchivedRanges(imported, [
      { ...row, to: 99, from: 90, venues: ['pumpswap'] },
      { ...whole, venues: ['pumpswap'] }
    ])
    const longer = { ...archived, first: { ...first, slot: 90 } }
    t.equal(await isAdjacent(longer, live, 103), false, 'within two days before its end it has rows of files')
    await recordArchivedRanges(imported, [{ ...whole, venues: ['pumpswap', 'orca-whirlpool'] }])
    const partial = { ...archived, last: { ...first, parentSlot: null } }
    t.equal(await isAdjacent(partial, live, 103), false, 'its last block may lack transactions')
    const others = await opened('others')
    await recordDecoding(others, null, new Set(['pumpswap', 'raydium-cpmm']))
    await others.blocks.commit(blockOf(101, null))
    t.equal(await isAdjacent(archived, others, 101), false, 'the archive lacks a venue')
    const unknown = await opened('unknown')
    await unknown.blocks.commit(blockOf(101, 100))
    t.equal(await isAdjacent(archived, unknown, 101), false, 'the live venues are unknown')
    t.equal(await isAdjacent({ ...archived, storage: unknown }, live, 103), false, 'those of the archive are')
    t.equal(await isAdjacent(archived, live, 104), false, 'the first live block was removed')
  }
)
