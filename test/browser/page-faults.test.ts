import t from 'tap'
import { testInBrowser } from './chromium.ts'
import { drawnCursors, MINT, openPage, openPageWorld } from './page-world.ts'

const CHANNEL = `trades:${MINT}`
const isTape = (path: string): boolean => path.startsWith(`/v1/tokens/${MINT}/trades?`)

testInBrowser(
  t,
  'lists whose answers are cut off or never come are read again, and their faults are shown meanwhile',
  async (t, browser) => {
    const world = await openPageWorld(t)
    await world.commitTrades(1, 12)
    const faults: ('cut' | 'hang')[] = ['cut', 'hang', 'cut']
    world.proxy.fault = (path) => (isTape(path) ? (faults.shift() ?? null) : null)
    const { page, later } = await openPage(browser, world, `#/token/${MINT}`)
    const problem = page.locator('.tape .problem')
    await problem.waitFor()
    await later(() => faults.length === 0, 'the list is requested after each fault')
    await later(async () => (await drawnCursors(page)).length === 12, 'the tape has its rows')
    t.same(await drawnCursors(page), await world.cursors())
    t.equal(await problem.count(), 0, 'no fault is shown any more')

    // The chart reads its first candles the same way.
    const candles: ('cut' | 'hang')[] = ['hang', 'cut']
    world.proxy.fault = (path) => (path.includes('/candles?') ? (candles.shift() ?? null) : null)
    await page.getByRole('button', { name: '5m', exact: true }).first().click()
    await later(() => candles.length === 0, 'the candles are requested after each fault')
    await later(
      async () => (await page.locator('.chart .legend').innerText()).includes('C '),
      'the chart has them'
    )
    t.equal(await page.locator('.chart .problem').count(), 0)
  }
)

testInBrowser(
  t,
  'a service that restarts, and cannot replay all, leaves no hole in the tape and none in the chart',
  async (t, browser) => {
    const world = await openPageWorld(t)
    const [newest] = await world.commitTrades(1, 5)
    const { page, stream, later } = await openPage(browser, world, `#/token/${MINT}`)
    stream.head = newest!.cursor
    await later(
      () => stream.subscriptions.some(({ channels }) => channels.includes(CHANNEL)),
      'the tape follows'
    )
    t.equal(stream.subscriptions.find(({ channels }) => channels.includes(CHANNEL))!.since, newest!.cursor)

    stream.isAway = true
    world.proxy.fault = () => 'cut'
    await stream.cut()
    await later(async () => (await page.locator('.problem').count()) > 0, 'the fault is shown')
    t.equal((await drawnCursors(page)).length, 5, 'the rows stay')

    const [last] = await world.commitTrades(2, 4)
    const replayed = await world.commitTrades(3, 3)
    stream.head = replayed[0]!.cursor
    stream.replay = ({ channels, since }) =>
      channels.includes(CHANNEL)
        ? [
            {
              ...{ type: 'warning', code: 'beyond_replay_horizon', message: 'too old' },
              ...{ channels: [CHANNEL], since, horizon: last!.cursor }
            },
            ...replayed.toReversed().map((row) => ({
              ...{ type: 'event', channel: CHANNEL, cursor: row.cursor, replay: true },
              data: { ...row, kind: 'trade' }
            }))
          ]
        : []
    stream.isAway = false
    let failures = 2
    // The first reads after the restart fail too, those that close the gap among them.
    world.proxy.fault = (path) => (isTape(path) && failures-- > 0 ? 'cut' : null)
    const whole = await world.cursors()
    t.equal(whole.length, 12)
    await later(async () => (await drawnCursors(page)).length === 12, 'the tape has all trades')
    t.same(await drawnCursors(page), whole, 'each once')
    await later(async () => (await page.locator('.problem').count()) === 0, 'no fault is shown any more')
    const resumed = stream.subscriptions.filter(({ channels }) => channels.includes(CHANNEL)).at(-1)
    t.equal(resumed!.since, newest!.cursor, 'the stream resumes where it was lost')
  }
)

testInBrowser(t, 'the trade that comes after an empty list was read is not missed', async (t, browser) => {
  const world = await openPageWorld(t)
  await world.commitTrades(1, 0)
  const { page, stream, later } = await openPage(browser, world, `#/token/${MINT}`)
  await page.getByText('No trade passes these filters.').waitFor()
  await later(
    () => stream.subscriptions.some(({ channels }) => channels.includes(CHANNEL)),
    'the tape follows'
  )
  // Without a cursor the stream would begin with what comes after the subscription.
  t.equal(stream.subscriptions.find(({ channels }) => channels.includes(CHANNEL))!.since, 0)
  const [row] = await world.commitTrades(2, 1)
  stream.send(CHANNEL, { ...row, kind: 'trade' }, row!.cursor)
  await later(async () => (await drawnCursors(page)).length === 1, 'the trade is drawn')
})
