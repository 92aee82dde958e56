import { join } from 'node:path'
import t from 'tap'
import { WSOL } from '../../src/market/cash.ts'
import { installPackedClient } from '../client/packed-client.ts'
import { startBusyLocalnetProcess } from '../service/localnet-process.ts'
import { ADMIN_KEY } from '../service/service-process.ts'
import { ownDirectory } from '../own-directory.ts'
import { openTestPage, testInBrowser } from './chromium.ts'

const NAME = 'the client reads the stream in a browser, and goes on where its connection was lost'

testInBrowser(t, NAME, async (t, browser) => {
  const { client } = await installPackedClient(t)
  const service = await startBusyLocalnetProcess(t, ownDirectory(t), ['--localnet-slot-ms', '100'])
  const page = await openTestPage(browser)
  await page.route(`${service.url}/client/*`, (route) => {
    const name = new URL(route.request().url()).pathname.slice('/client/'.length)
    return route.fulfill({ contentType: 'text/javascript', path: join(client, 'dist/client', name) })
  })
  // The page must be the service's own: from an opaque origin the browser denies loopback.
  await page.goto(`${service.url}/v1/health`)
  // The script is text, because the compiler does not know the page's modules.
  const read = await page.evaluate(`(async () => {
    const { connect } = await import('/client/client.js')
    const sockets = []
    class Watched extends WebSocket {
      constructor(url) {
        super(url)
        sockets.push(this)
      }
    }
    const client = connect({ url: location.origin, key: '${ADMIN_KEY}', WebSocket: Watched })
    const stream = client.subscribe(['trades:${WSOL}'])
    const events = []
    for await (const { kind, cursor, replay } of stream) {
      events.push({ kind, cursor, replay })
      if (events.length === 10) sockets[0].close()
      if (events.length >= 40 && !replay) break
    }
    return { sockets: sockets.length, events }
  })()`)
  const { sockets, events } = read as {
    sockets: number
    events: { kind: string; cursor: number; replay: boolean }[]
  }
  t.equal(sockets, 2)
  t.ok(events.some(({ replay }) => replay))
  t.ok(events.every(({ kind }) => kind === 'trade'))
  const cursors = events.map(({ cursor }) => cursor)
  const { body } = await service.get(`/v1/tokens/${WSOL}/trades?limit=1000`)
  const stored = body.data.map(({ cursor }) => cursor as number).toReversed()
  t.strictSame(
    cursors,
    stored.filter((cursor) => cursor >= cursors[0]! && cursor <= cursors.at(-1)!)
  )

  const refused = await page.evaluate(`(async () => {
    const { connect } = await import('/client/client.js')
    const stream = connect({ url: location.origin, key: 'no-such-key' }).subscribe(['launches'])
    return stream.next().then(() => 'read', (error) => error.code)
  })()`)
  t.equal(refused, 'stream_key_refused')
})
