import t, { type Test } from 'tap'
import { TipBoard } from '../../../actors/transactions/engine/tip-board.ts'
import { readTipFloor } from '../../../src/transactions/engine/tip-floor.ts'
import { FEED, startTestEngine } from '../../servers/test-engine.ts'
import { ERRORS } from '../../../src/kernel/errors.ts'

const ACCOUNTS = ['96gYZGLnJYVFmbjzopPSU6QiEV5fGqZNyN9nmNhvrZU5']

/** A board whose time the test sets. It waits for the feed however long that takes. */
async function world(t: Test, { isAway = false } = {}) {
  const engine = await startTestEngine(t)
  const state = { nowMs: 0, isAway, asked: 0 }
  const clock = { now: () => state.nowMs, setTimeout: () => null, clearTimeout: () => undefined }
  const client = {
    tipAccounts: async () => {
      state.asked++
      if (state.isAway) throw new Error('away')
      return ACCOUNTS
    }
  }
  const end = new AbortController()
  t.teardown(() => end.abort())
  const board = new TipBoard(client, `${engine.url}/api/v1/bundles/tip_floor`, { clock, end: end.signal })
  return { engine, state, board, without: new TipBoard(client, null, { clock, end: end.signal }) }
}

t.test('SOL of the feed are lamports, rounded', async (t) => {
  t.same(readTipFloor(FEED), {
    p25: 6_001,
    p50: 10_000,
    p75: 36_197,
    p95: 1_447_906,
    p99: 10_007_999,
    emaP50: 9_836,
    atMs: Date.UTC(2026, 7, 24, 11, 59, 58)
  })
})

t.test('a feed that is none is refused', async (t) => {
  const [floor] = FEED
  for (const feed of [
    [],
    {},
    null,
    [{ ...floor, landed_tips_50th_percentile: -1 }],
    [{ ...floor, landed_tips_99th_percentile: '1' }],
    [{ ...floor, landed_tips_99th_percentile: 1e9 }],
    [{ ...floor, time: 'now' }],
    [{ time: floor!.time }]
  ])
    t.throws(() => readTipFloor(feed), JSON.stringify(feed))
})

t.test(
  'tips are served for five seconds, then fetched again, and are stale while the feed is down',
  async (t) => {
    const { engine, state, board } = await world(t)
    t.match(await board.tips(), { accounts: ACCOUNTS, floor: { p50: 10_000 }, isStale: false })
    engine.feed = [{ ...FEED[0], landed_tips_50th_percentile: 2e-5 }]
    state.nowMs = 4_999
    t.match(await board.tips(), { floor: { p50: 10_000 }, isStale: false })
    state.nowMs = 5_000
    t.match(await board.tips(), { floor: { p50: 20_000 }, isStale: false })
    engine.fault('tip_floor', { kind: 'status', status: 500 })
    state.nowMs = 10_000
    t.match(await board.tips(), { floor: { p50: 20_000 }, isStale: true })
    engine.feed = 'nonsense'
    t.match(await board.tips(), { floor: { p50: 20_000 }, isStale: true })
    engine.feed = FEED
    t.match(await board.tips(), { floor: { p50: 10_000 }, isStale: false })
    t.equal(state.asked, 1, 'tip accounts are asked for once')
  }
)

t.test('tips that were never fetched are an upstream error', async (t) => {
  const { engine, state, board, without } = await world(t, { isAway: true })
  await t.rejects(board.accounts(), { name: 'ServiceError', kind: ERRORS.UPSTREAM_ERROR })
  state.isAway = false
  engine.feed = []
  await t.rejects(board.tips(), { name: 'ServiceError', kind: ERRORS.UPSTREAM_ERROR, detail: /feed of tips/ })
  t.same(await board.accounts(), ACCOUNTS)
  await t.rejects(without.tips(), { name: 'ServiceError', kind: ERRORS.NOT_CONFIGURED, detail: /no feed/ })
  t.same(await without.accounts(), ACCOUNTS)
})

t.test('accounts that cannot be fetched again stay as they were', async (t) => {
  const { state, board } = await world(t)
  await board.accounts()
  state.isAway = true
  state.nowMs = 3_600_001
  t.same(await board.accounts(), ACCOUNTS)
  t.equal(state.asked, 2)
})
