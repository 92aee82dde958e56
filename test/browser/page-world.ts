import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import type { Test } from 'tap'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import type { Scope } from '../../src/access/scopes.ts'
import { marketApp, type MarketApp, type Row } from '../http/market-app.ts'
import { block, buy, launch, solSale, TOKEN } from '../market/world.ts'
import { until } from '../service/asking.ts'
import { openWatchedPage, type WatchedPage } from './chromium.ts'
import { PlayedStream } from './played-stream.ts'
import { startPrefixProxy, type PrefixProxy } from './prefix-proxy.ts'

export const MINT = pubkeyToBase58(TOKEN)
const SCOPES: readonly Scope[] = [
  'data:read',
  'stream',
  'webhooks',
  'tx:send',
  'revenue',
  'rpc:read',
  'admin'
]

/** The HTTP side of this process behind a proxy, for a page. The test commits the blocks, and plays the stream. */
export interface PageWorld {
  readonly app: MarketApp
  readonly proxy: PrefixProxy
  /** A key with all scopes. */
  readonly key: string
  /** Commits a block with trades of the token. Returns their rows, the newest first. */
  commitTrades(slot: number, count: number): Promise<readonly Row[]>
  /** Returns the cursors of all trades that REST has, the newest first. */
  cursors(): Promise<number[]>
}

/** Opens such a service. `parts` replaces parts of its HTTP side. */
export async function openPageWorld(
  t: Test,
  parts: Parameters<typeof marketApp>[2] = {}
): Promise<PageWorld> {
  const app = await marketApp(t, undefined, parts)
  const startSeconds = Math.floor(Date.now() / 1_000)
  app.nowMs = startSeconds * 1_000
  const key = await app.makeKey(SCOPES)
  const proxy = await startPrefixProxy(t, 'm', await app.app.listen({ host: '127.0.0.1', port: 0 }))
  const rows = async (limit: number): Promise<readonly Row[]> =>
    (await app.get(`/v1/tokens/${MINT}/trades?limit=${limit}`)).body.data
  return {
    ...{ app, proxy, key },
    commitTrades: async (slot, count) => {
      const events = Array.from({ length: count }, (_, at) => buy(10n ** 9n + BigInt(at), 10n ** 9n))
      await app.commit(
        block(slot, startSeconds - 60 + slot, slot === 1 ? [solSale(150), launch(), ...events] : events)
      )
      return rows(Math.max(1, count))
    },
    cursors: async () => (await rows(1_000)).map(({ cursor }) => cursor)
  }
}

/** A page of such a service, whose timers run when the test says so. */
export interface OpenedPage extends WatchedPage {
  readonly stream: PlayedStream
  /** Lets a second of the page's time pass in each poll, until a condition holds. */
  readonly later: (condition: () => Promise<boolean> | boolean, what: string) => Promise<void>
}

export async function openPage(
  browser: Browser,
  { proxy, key }: PageWorld,
  view: string,
  { time, ...options }: BrowserContextOptions & { readonly time?: number } = {}
): Promise<OpenedPage> {
  const watched = await openWatchedPage(browser, proxy.url.slice(0, -1), options)
  const { page } = watched
  await page.clock.install(time === undefined ? {} : { time })
  const stream = await PlayedStream.on(page)
  await page.addInitScript(`sessionStorage.setItem('millrace.key', '${key}')`)
  await page.goto(`${proxy.url}${view}`)
  const later: OpenedPage['later'] = async (condition, what) => {
    await until(async () => {
      await page.clock.fastForward(1_000)
      return condition()
    }, what)
  }
  return { ...watched, stream, later }
}

/** Returns the cursors of the drawn rows of the tape, the newest first. */
export const drawnCursors = (page: Page): Promise<number[]> =>
  page.evaluate<number[]>(
    "[...document.querySelectorAll('.virtual-box [data-key]')].map((row) => Number(row.dataset.key))"
  )
