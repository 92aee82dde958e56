import { Registry } from 'prom-client'
import { join } from 'node:path'
import { pino } from 'pino'
import t from 'tap'
import { ingest } from '../../actors/ingest/ingest.ts'
import { recordedSource } from '../../actors/ingest/source.ts'
import { NO_UNDO } from '../../actors/ingest/undo-history.ts'
import { store } from '../../actors/storage/store.ts'
import { supervise } from '../../actors/supervision/supervisor.ts'
import { child, supervisor } from '../../actors/supervision/unit.ts'
import { CommitFeed } from '../../src/kernel/feed/commit-feed.ts'
import { DecodingReport } from '../../src/ingest/decoding-report.ts'
import { ERRORS, ServiceError } from '../../src/kernel/errors.ts'
import { CashList } from '../../src/market/cash.ts'
import { systemPorts } from '../../src/ports.ts'
import { ingestMetrics } from '../../src/ingest/metrics.ts'
import { storeMetrics } from '../../src/store/metrics.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { withFaults, type StorageFault } from '../storage/storage-faults.ts'
import type { Storage } from '../../storage/port.ts'
import { testWithFixtures } from '../fixtures.ts'
import { recordedBlocks, writeLines } from './recorded-folder.ts'
import { storedRows } from './stored-rows.ts'

const BLOCKS = 60

/** Ingests a folder into a store with faults, to its end. Returns the restarts, and the faults that did not occur. */
async function ingestAll(
  directory: string,
  recorded: string,
  faults: readonly StorageFault[],
  opened: (storage: Storage) => Storage = (storage) => storage
) {
  const done = Promise.withResolvers<void>()
  const logger = pino(
    { base: null },
    {
      write: (line: string) => {
        if (line.includes('the source has no more blocks')) done.resolve()
      }
    }
  )
  let unfired: () => readonly StorageFault[] = () => faults
  const open = async () => {
    const faulty = withFaults(opened(await openEmbeddedStorage({ directory })), faults)
    unfired = faulty.unfired
    return faulty.storage
  }
  const { clock } = systemPorts
  const decoding = new DecodingReport()
  const registry = new Registry()
  const metrics = { ...ingestMetrics(registry), ...storeMetrics(registry) }
  const fold = { cash: new CashList(), startingSolUsd: 150 }
  const feed = new CommitFeed()
  const told: number[] = []
  feed.follow({ published: (commit) => void told.push(commit.slot.slot) })
  const supervision = supervise(
    supervisor('service', 'rest_for_one', [
      child(
        'storage',
        store(open, async () => undefined, { clock, logger, metrics })
      ),
      child('source', recordedSource({ directory: recorded, speed: 'max' }, { clock, logger })),
      child('ingest', ingest({ fold, undoPolicy: NO_UNDO, feed, decoding, metrics, logger, clock }))
    ]),
    systemPorts
  )
  await done.promise
  const { children } = supervision.tree()
  const restarts = Object.fromEntries(children.map(({ name, restarts }) => [name, restarts]))
  await supervision.drain()
  return { restarts, unfired: unfired(), told, rows: await storedRows(directory) }
}

testWithFixtures(
  t,
  'ingest whose store fails, before a commit or after it, reads on from what is stored and loses or repeats nothing',
  async (t) => {
    const directory = t.testdir({ blocks: {} })
    const recorded = join(directory, 'blocks')
    writeLines(recorded, 'all.ndjson', recordedBlocks(BLOCKS))
    const expected = await ingestAll(join(directory, 'sound'), recorded, [])
    t.equal(expected.rows.records.b, BLOCKS)
    t.equal(expected.told.length, BLOCKS)
    const fail = { kind: 'fail' } as const
    const cases: Readonly<Record<string, readonly StorageFault[]>> = {
      'a commit that is refused': [{ operation: 'blocks.commit', nth: 7, effect: fail }],
      'a commit whose answer is lost': [
        { operation: 'blocks.commit', nth: 7, effect: { kind: 'fail-after' } }
      ],
      'the first commit, and the look at the head after it': [
        { operation: 'blocks.commit', nth: 1, effect: { kind: 'fail-after' } },
        { operation: 'blocks.claim', nth: 2, effect: fail }
      ],
      'reads before a commit': [
        { operation: 'pairs.get', nth: 15, effect: fail },
        { operation: 'candles.get', nth: 60, effect: fail },
        { operation: 'launches.get', nth: 40, effect: fail }
      ],
      'reads that restore the market': [
        { operation: 'blocks.commit', nth: 30, effect: { kind: 'fail-after' } },
        { operation: 'solPrices.atOrBefore', nth: 1, effect: fail },
        // The second read: the first one happens beside the failing one.
        { operation: 'trades.ofMint', nth: 2, effect: fail }
      ]
    }
    for (const [index, [name, faults]] of Object.entries(cases).entries()) {
      const { restarts, unfired, told, rows } = await ingestAll(
        join(directory, `faulty-${index}`),
        recorded,
        faults
      )
      t.strictSame(unfired, [], `${name}: every fault happened`)
      t.strictSame(
        restarts,
        { storage: 0, source: 0, ingest: faults.length },
        `${name}: ingest alone is restarted`
      )
      t.strictSame(rows, expected.rows, `${name}: the same rows to the byte`)
      t.strictSame(told, expected.told, `${name}: the feed told of each block once, in order`)
    }
  }
)

testWithFixtures(
  t,
  'a store that refuses every write until it is opened again is opened again',
  async (t) => {
    const directory = t.testdir({ blocks: {} })
    const recorded = join(directory, 'blocks')
    writeLines(recorded, 'all.ndjson', recordedBlocks(12))
    const expected = await ingestAll(join(directory, 'sound'), recorded, [])
    let openings = 0
    const refusing = (storage: Storage): Storage => {
      let commits = 0
      if (openings++ > 0) return storage
      const failed = Promise.withResolvers<Error>()
      const commit: Storage['blocks']['commit'] = async (block) => {
        if (++commits <= 5) return storage.blocks.commit(block)
        const failure = new ServiceError(ERRORS.STORAGE_UNAVAILABLE, 'the store must be reopened')
        failed.resolve(failure)
        throw failure
      }
      return { ...storage, failed: failed.promise, blocks: { ...storage.blocks, commit } }
    }
    const { restarts, rows, told } = await ingestAll(join(directory, 'refusing'), recorded, [], refusing)
    t.equal(restarts.storage, 1, 'the first refusal is enough')
    t.equal(openings, 2)
    t.strictSame(rows, expected.rows)
    t.strictSame(told, expected.told)
  }
)
