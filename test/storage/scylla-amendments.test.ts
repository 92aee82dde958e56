import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { SCYLLA_CRASH_POINTS } from '../../storage/crash-points.ts'
import type { ScyllaCrashPoint } from '../../storage/crash-points.ts'
import type { BlockCommit, Storage } from '../../storage/port.ts'
import { openScyllaStorage } from '../../storage/scylla/store.ts'
import { assertSame } from '../../storage/test/conformance/agreement.ts'
import { differenceBetween } from '../../storage/test/difference.ts'
import { StorageModel } from '../../storage/test/model.ts'
import { sampleMint, slotAt } from '../../storage/test/sample-addresses.ts'
import { blockOfTrades, sampleBlock } from '../../storage/test/sample-blocks.ts'
import { ALL } from '../../storage/test/under-test.ts'
import { testWithCql } from '../servers/cql.ts'
import { amendmentOf, assertIs, fill, modelsOf } from './amended-series.ts'
import type { AmendedSeries } from './amended-series.ts'
import { CqlProxy } from './cql-proxy.ts'
import type { AmendPlan } from './scylla-amend-child.ts'
import { ScyllaUnderTest } from './scylla-keyspace.ts'
import { ERRORS } from '../../src/kernel/errors.ts'

const CHILD = join(import.meta.dirname, 'scylla-amend-child.ts')
const NO_GAPS = { put: [], remove: [] }
const LOST = { name: 'ServiceError', kind: ERRORS.STORAGE_UNAVAILABLE, detail: /another process writes now/ }
const mint = sampleMint(0)
/** Some blocks are inserted later, and the last two are lost. */
const SERIES: AmendedSeries = { seed: 2, blocks: 14, late: [3, 4, 9], lost: 2 }
/** Milliseconds after the watermark was sent at which the kill comes, so that it also hits a watermark in flight. */
const DECIDING_MS = [0, 2]

type AmendPoint = Extract<ScyllaCrashPoint, `amend.${string}`>
const AMEND_POINTS = Object.keys(SCYLLA_CRASH_POINTS).filter((point): point is AmendPoint =>
  point.startsWith('amend.')
)
/** Returns the block with an earlier time, like that of a leader whose clock is a few seconds behind. */
function earlier(block: BlockCommit): BlockCommit {
  return { ...block, slot: { ...block.slot, blockTime: block.slot.blockTime - 3 } }
}
const isThereAt = (point: AmendPoint): boolean => point === 'amend.visible' || point === 'amend.published'

/**
 * Returns the state that a store shows while a sent watermark may still be decided: all of the amendment or nothing. From
 * one read to the next, nothing may become all, never the reverse.
 */
async function outcomeOf(storage: Storage): Promise<'before' | 'after'> {
  const isThere = async (): Promise<boolean> => {
    await storage.blocks.head()
    return storage.blocks.has(slotAt(SERIES.late[0]!))
  }
  if (!(await isThere())) {
    try {
      await assertIs(storage, SERIES, 'before')
      return 'before'
    } catch (fault) {
      if (!(await isThere())) throw fault
    }
  }
  await assertIs(storage, SERIES, 'after')
  return 'after'
}

testWithCql(t, 'amendments on a CQL server', async (t, server) => {
  const under = await ScyllaUnderTest.make(server)
  t.teardown(() => under.end())

  const open = async (
    t: Test,
    reached: (point: ScyllaCrashPoint) => void = () => undefined,
    way: { readonly port?: number; readonly flushBlocks?: number } = {}
  ): Promise<Storage> => {
    const { port, flushBlocks = 4 } = way
    const through = port === undefined ? {} : { contactPoints: [`127.0.0.1:${port}`], port }
    const storage = await openScyllaStorage({ ...under.options, ...through, flushBlocks, reached })
    t.teardown(() => storage.close())
    return storage
  }

  /** Runs the process of a plan to its end. Resolves with its output. */
  const live = async (t: Test, plan: Partial<AmendPlan>) => {
    const whole: AmendPlan = {
      ...{ store: under.options, series: SERIES, fills: true, forgets: null, at: null, afterMs: 0 },
      ...plan
    }
    const child = spawn(process.execPath, [CHILD, JSON.stringify(whole)], {
      stdio: ['ignore', 'pipe', 'inherit']
    })
    t.teardown(() => child.kill('SIGKILL'))
    const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
    const [[code, signal], said] = await Promise.all([exited, text(child.stdout)])
    return { code, signal, lines: said.trim().split('\n') }
  }

  /** Returns the number of rows of trades by mint that an epoch has written. */
  const rowsOf = async (epoch: number): Promise<number> => {
    const rows = await under.rows('SELECT epoch FROM trades_by_mint')
    return rows.filter((row) => row['epoch'] === epoch).length
  }

  for (const point of AMEND_POINTS)
    t.test(`at ${point} readers see all of an amendment or nothing of it`, async (t) => {
      await under.clear()
      const proxy = await CqlProxy.start(server.contactPoints[0]!)
      t.teardown(() => proxy.end())
      let fired = 0
      const holding = (reached: ScyllaCrashPoint): void => {
        if (reached === point && ++fired === 1) proxy.mode = 'held'
      }
      const writer = await open(t, holding, { port: proxy.port })
      t.teardown(() => (proxy.mode = 'open'))
      const known = await open(t)
      await fill(writer, SERIES)
      await known.blocks.head()
      await assertIs(known, SERIES, 'before')
      const amending = writer.history.amend(...amendmentOf(SERIES))
      while (fired === 0) await delay(1)
      if (point === 'amend.published') await amending
      const moment = isThereAt(point) ? 'after' : 'before'
      if (point === 'amend.deciding') {
        proxy.mode = 'open'
        await amending
      } else {
        await known.blocks.head()
        await assertIs(known, SERIES, moment)
        await assertIs(await open(t), SERIES, moment)
        proxy.mode = 'open'
        await amending
      }
      await assertIs(writer, SERIES, 'after')
      await known.blocks.head()
      await assertIs(known, SERIES, 'after')
    })

  t.test('queries that are under way while an amendment becomes visible have one answer', async (t) => {
    await under.clear()
    const [writer, reader] = [await open(t), await open(t)]
    await fill(writer, SERIES)
    await reader.blocks.head()
    const { before, after } = modelsOf(SERIES)
    let [asking, seen] = [true, 0]
    const answers = new Set(
      [before, after].map((model) => JSON.stringify(model.trades(mint, ALL).map(({ cursor }) => cursor)))
    )
    const asked = (async () => {
      for (; asking; seen++) {
        const rows = await reader.trades.ofMint(mint, ALL)
        assert.ok(answers.has(JSON.stringify(rows.map(({ cursor }) => cursor))))
        for (const { pool } of before.rows.all('pools'))
          await reader.pools.ofMint(pool, { order: 'asc', limit: 9 })
        await reader.blocks.head()
      }
    })()
    await writer.history.amend(...amendmentOf(SERIES))
    await reader.blocks.head()
    asking = false
    await asked
    t.ok(seen > 1, `asked ${seen} times meanwhile`)
    await assertIs(reader, SERIES, 'after')
  })

  for (const point of AMEND_POINTS)
    t.test(`killed at ${point}: ${SCYLLA_CRASH_POINTS[point]}`, async (t) => {
      const outcomes: string[] = []
      for (const afterMs of point === 'amend.deciding' ? DECIDING_MS : [0]) {
        await under.clear()
        const reader = await open(t)
        const { signal, lines } = await live(t, { at: point, afterMs })
        t.equal(signal, 'SIGKILL')
        t.ok(lines.includes(`killed at ${point}`), 'the point fired')
        const seen = [await outcomeOf(reader), await outcomeOf(await open(t))]
        const expected = isThereAt(point) ? 'after' : 'before'
        if (point === 'amend.deciding') t.notSame(seen, ['after', 'before'], 'what counts is not taken back')
        else t.same(seen, [expected, expected])
        outcomes.push(`${seen.join(', ')} after ${afterMs} ms`)
        const left = await rowsOf((await under.watermark())['epoch'] as number)
        if (point === 'amend.claimed' || point === 'amend.staged') t.equal(left, 0, 'none of it is written')
        else t.ok(left > 0, `${left} rows of trades are written`)
        const next = await live(t, { fills: false })
        t.strictSame([next.code, next.lines], [0, ['amended', 'done']], 'the next does it again')
        await reader.blocks.head()
        await assertIs(reader, SERIES, 'after')
        await assertIs(await open(t), SERIES, 'after')
      }
      t.comment(outcomes.join(', '))
    })

  t.test(`killed at kept.forgotten: ${SCYLLA_CRASH_POINTS['kept.forgotten']}`, async (t) => {
    await under.clear()
    const reader = await open(t)
    const forgets = slotAt(5)
    const slots = async (): Promise<number[]> => {
      await reader.blocks.head()
      return (await reader.history.after(null, 100)).map(({ block }) => block.slot)
    }
    const { signal, lines } = await live(t, { at: 'kept.forgotten', forgets })
    t.strictSame([signal, lines], ['SIGKILL', ['amended', 'killed at kept.forgotten']])
    const left = [6, 7, 8, 9, 10, 11].map(slotAt)
    const stored = async (): Promise<number[]> =>
      (await under.rows('SELECT slot FROM kept_blocks')).map((row) => Number(row['slot']))
    t.strictSame(await slots(), left)
    t.ok(
      (await stored()).some((slot) => slot <= forgets),
      'they are there'
    )
    const writer = await open(t)
    await writer.history.forget(slotAt(6))
    t.strictSame(await slots(), left.slice(1))
    t.notOk(
      (await stored()).some((slot) => slot <= slotAt(6)),
      'the next has deleted them'
    )
  })

  t.test('an amendment that is written again changes nothing, and blocks go on after it', async (t) => {
    await under.clear()
    const [writer, reader] = [await open(t), await open(t)]
    await fill(writer, SERIES)
    for (let time = 0; time < 3; time++) {
      await writer.history.amend(...amendmentOf(SERIES))
      await assertIs(writer, SERIES, 'after')
    }
    const { after } = modelsOf(SERIES)
    for (let index = SERIES.blocks; index < SERIES.blocks + 10; index++) {
      after.commit(sampleBlock(SERIES.seed, index))
      t.equal(await writer.blocks.commit(sampleBlock(SERIES.seed, index)), true)
    }
    await reader.blocks.head()
    for (const storage of [writer, reader, await open(t)]) await assertSame(storage, after)
  })

  t.test('an amendment of a writer that has lost its claim is never visible', async (t) => {
    for (const [point, tokens] of [
      ['amend.staged', [1, 2]],
      ['amend.writing', [null, null]],
      ['amend.written', [1, 2]],
      ['amend.deciding', [null, null]]
    ] as const) {
      await under.clear()
      const proxy = await CqlProxy.start(server.contactPoints[0]!)
      t.teardown(() => proxy.end())
      let fired = 0
      const holding = (reached: ScyllaCrashPoint): void => {
        if (reached === point && ++fired === 1) proxy.mode = 'held'
      }
      const late = await open(t, holding, { port: proxy.port })
      t.teardown(() => (proxy.mode = 'open'))
      await late.blocks.claim(tokens[0])
      const begun = await under.epoch()
      await fill(late, SERIES)
      const refused = t.rejects(late.history.amend(...amendmentOf(SERIES)), LOST)
      while (fired === 0) await delay(1)
      const next = await open(t)
      t.equal((await next.blocks.claim(tokens[1]))?.slot, slotAt(SERIES.blocks - 1))
      const { before } = modelsOf(SERIES)
      const more = async (index: number): Promise<void> => {
        before.commit(sampleBlock(SERIES.seed, index))
        t.equal(await next.blocks.commit(sampleBlock(SERIES.seed, index)), true)
      }
      await more(SERIES.blocks)
      proxy.mode = 'open'
      await refused
      for (let i = 1; i < 8; i++) await more(SERIES.blocks + i)
      const again = late.blocks.commit(sampleBlock(SERIES.seed, 90))
      await t.rejects(again, LOST, 'and it does not take the claim back')
      await late.blocks.head()
      for (const storage of [next, late, await open(t)]) await assertSame(storage, before)
      if (point === 'amend.written') t.ok((await rowsOf(begun + 1)) > 0, 'what it wrote is there')
    }
  })

  t.test('a writer that has amended and lost its claim does not take the claim back', async (t) => {
    await under.clear()
    const [first, second] = [await open(t), await open(t)]
    await first.blocks.claim(null)
    await fill(first, SERIES)
    await first.history.amend(...amendmentOf(SERIES))
    await second.blocks.claim(null)
    await t.rejects(first.blocks.commit(sampleBlock(2, 30)), LOST)
    t.equal(await second.blocks.commit(sampleBlock(2, 31)), true)
    await t.rejects(first.history.amend(...amendmentOf(SERIES)), LOST)
  })

  t.test('an amendment that fails changes nothing, and the next commit goes on', async (t) => {
    for (const point of ['amend.claimed', 'amend.staged', 'amend.writing', 'amend.written'] as const) {
      await under.clear()
      let failures = 0
      const writer = await open(t, (reached) => {
        if (reached === point && failures++ === 0) throw new Error(`${point} fails on purpose`)
      })
      await fill(writer, SERIES)
      await t.rejects(writer.history.amend(...amendmentOf(SERIES)), { message: `${point} fails on purpose` })
      await assertIs(writer, SERIES, 'before')
      const { before } = modelsOf(SERIES)
      for (let index = SERIES.blocks; index < SERIES.blocks + 6; index++) {
        before.commit(sampleBlock(SERIES.seed, index))
        t.equal(await writer.blocks.commit(sampleBlock(SERIES.seed, index)), true)
      }
      await assertSame(writer, before)
      await assertSame(await open(t), before)
    }
  })

  t.test('a slot that was taken back is committed again with other rows, and never has both', async (t) => {
    for (const step of ['flush.writing', 'flush.written', 'flush.deciding', 'flush.visible'] as const) {
      await under.clear()
      const proxy = await CqlProxy.start(server.contactPoints[0]!)
      t.teardown(() => proxy.end())
      let isArmed = false
      const holding = (reached: ScyllaCrashPoint): void => {
        if (isArmed && reached === step) proxy.mode = 'held'
      }
      const writer = await open(t, holding, { port: proxy.port, flushBlocks: 2 })
      t.teardown(() => (proxy.mode = 'open'))
      const model = new StorageModel()
      const lost = [blockOfTrades(1, mint, 9), blockOfTrades(2, mint, 9)]
      for (const block of [blockOfTrades(0, mint, 3), ...lost]) await writer.blocks.commit(block)
      const whole = new StorageModel()
      for (const block of [blockOfTrades(0, mint, 3), ...lost]) whole.commit(block)
      model.commit(blockOfTrades(0, mint, 3))
      await writer.history.amend(differenceBetween(whole, model), NO_GAPS)
      await assertSame(writer, model)
      isArmed = true
      // Some of the existing rows are rewritten. Times occasionally decrease by seconds.
      for (const block of [blockOfTrades(1, mint, 4), blockOfTrades(2, mint, 5)].map(earlier)) {
        model.commit(block)
        await writer.blocks.commit(block)
      }
      while (proxy.mode !== 'held') await delay(1)
      const assertTrades = async (storage: Storage): Promise<void> =>
        assert.deepStrictEqual(await storage.trades.ofMint(mint, ALL), model.trades(mint, ALL))
      await assertTrades(await open(t))
      proxy.mode = 'open'
      await writer.close()
      await assertTrades(await open(t))
      t.pass(`held at ${step}`)
    }
  })
})
