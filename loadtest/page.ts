/**
 * Opens a token with a thousand trades a second in a real Chromium, on the page that the service serves, and measures the time
 * of its frames, its memory, and the time from the commit of a block to its first row on the screen. A frame's time is the
 * interval between two frames. Memory is measured after a collection. Before, new browser contexts open the same view, and the
 * time to its first row is measured.
 *
 *     node loadtest/page.ts [seconds] [trades a second] [profile.cpuprofile]
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { chromium, type CDPSession, type Page } from 'playwright-core'
import type { BusyToken } from './page/busy-token.ts'
import { figuresOf, startMeasured } from './measured-process.ts'
import { writeResult } from './result.ts'
import { seriesOf } from './series.ts'

const [secondsText = '600', rate = '1000', profile] = process.argv.slice(2)
const seconds = Number(secondsText)
const BROWSER = '/usr/bin/chromium'
const VIEW = { viewport: { width: 1280, height: 900 } } as const
const BLOCKS_PER_SECOND = 2.5
const SAMPLES = 6
/** Openings without a cache, each in a context of its own. */
const OPENINGS = 7
/** Positions of a slot in a cursor. */
const POSITIONS = 2 ** 20
const MIB = 2 ** 20

/** The script is text: it runs in the page, and the compiler does not know the types of a browser. */
const WATCH = `(() => {
  const watch = { frames: [], shown: [], rows: 0 }
  let before = performance.now()
  const frame = (now) => {
    watch.frames.push(now - before)
    before = now
    requestAnimationFrame(frame)
  }
  requestAnimationFrame(frame)
  let newest = 0
  new MutationObserver(() => {
    const row = document.querySelector('.virtual-box [data-key]')
    const slot = row === null ? 0 : Math.floor(Number(row.dataset.key) / ${POSITIONS})
    if (slot > newest) watch.shown.push([slot, Date.now()])
    newest = Math.max(newest, slot)
  }).observe(document.querySelector('.tape'), { childList: true, subtree: true, attributes: true, attributeFilter: ['data-key'] })
  window.takeWatched = () => {
    const taken = { frames: watch.frames.splice(0), shown: watch.shown.splice(0), rows: Number(document.querySelector('.virtual').getAttribute('aria-rowcount')) }
    return taken
  }
})()`

interface Watched {
  readonly frames: readonly number[]
  readonly shown: readonly (readonly [slot: number, ms: number])[]
  readonly rows: number
}

interface Sample {
  readonly second: number
  readonly frame_p95_ms: number
  /** Processor time of the page's main thread, by block that it drew and by frame. */
  readonly cpu_ms_per_block: number
  readonly cpu_ms_per_frame: number
  readonly heap_mib: number
  readonly renderer_rss_mib: number
  readonly rows: number
}

const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? NaN

const scratch = mkdtempSync(join(tmpdir(), 'millrace-page-load-'))
const server = await startMeasured('page/busy-token.ts', [scratch, rate, String(BLOCKS_PER_SECOND)])
const browser = await chromium.launch({
  executablePath: BROWSER,
  args: ['--no-sandbox', '--enable-precise-memory-info']
})
try {
  const { key, mint } = (await server.ask('begin')) as BusyToken
  const openedMs: number[] = []
  for (let n = 0; n < OPENINGS; n++) openedMs.push(await openingMs(key, mint))
  const page = await browser.newPage(VIEW)
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(String(error)))
  await open(page, key, mint)
  await page.locator('.virtual-box .fresh').first().waitFor()
  const session = await page.context().newCDPSession(page)
  // Time that the main thread ran: other processes of the machine do not lengthen it.
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  const renderer = figuresOf(await rendererPid())
  await page.evaluate(WATCH)
  if (profile !== undefined) await startProfile(session)

  const frames: number[] = []
  const shown: (readonly [number, number])[] = []
  const commits = new Map<number, number>()
  const samples: Sample[] = []
  let busyMs = await mainThreadMs(session)
  const began = performance.now()
  const second = (): number => (performance.now() - began) / 1_000
  for (let n = 1; n <= SAMPLES; n++) {
    await pause(Math.max(1, ((n * seconds) / SAMPLES - second()) * 1_000))
    const watched = await page.evaluate<Watched>('window.takeWatched()')
    frames.push(...watched.frames)
    shown.push(...watched.shown)
    for (const [slot, ms] of ((await server.ask('commits')) as BusyToken).commits) commits.set(slot, ms)
    const busyNowMs = await mainThreadMs(session)
    const sample = {
      second: Math.round(second()),
      frame_p95_ms: quantile(watched.frames, 0.95),
      cpu_ms_per_block: (busyNowMs - busyMs) / Math.max(1, watched.shown.length),
      cpu_ms_per_frame: (busyNowMs - busyMs) / Math.max(1, watched.frames.length),
      heap_mib: await heapMib(session, page),
      renderer_rss_mib: renderer.rssMib(),
      rows: watched.rows
    }
    // The collection for the heap is not the page's own work.
    busyMs = await mainThreadMs(session)
    samples.push(sample)
    console.error(JSON.stringify(sample))
  }
  if (profile !== undefined) await writeProfile(session, profile)
  const delays = shown.flatMap(([slot, ms]) => {
    const committedMs = commits.get(slot)
    return committedMs === undefined ? [] : [ms - committedMs]
  })
  const heap = seriesOf(samples.map(({ second: at, heap_mib: value }) => ({ hour: at / 3_600, value })))
  await writeResult('page', {
    ...{ seconds, trades_per_second: Number(rate), blocks_per_second: BLOCKS_PER_SECOND },
    frame_ms: {
      p50: quantile(frames, 0.5),
      p95: quantile(frames, 0.95),
      p99: quantile(frames, 0.99),
      largest: Math.max(...frames),
      bar_p95: 50
    },
    commit_to_row_ms: {
      blocks: delays.length,
      p50: quantile(delays, 0.5),
      p95: quantile(delays, 0.95),
      bar: 500
    },
    opening_ms: { p50: quantile(openedMs, 0.5), largest: Math.max(...openedMs), bar: 1_000 },
    heap_mib: { ...heap, bar: 200 },
    ...{ complaints, samples }
  })
} finally {
  await browser.close()
  await server.end()
  rmSync(scratch, { recursive: true, force: true })
}

async function open(page: Page, key: string, mint: string): Promise<void> {
  await page.addInitScript(`sessionStorage.setItem('millrace.key', '${key}')`)
  await page.goto(`${server.url}/#/token/${mint}`)
}

/** Opens the token without a cache. Returns the milliseconds to the first trade and the drawn chart. */
async function openingMs(key: string, mint: string): Promise<number> {
  const context = await browser.newContext(VIEW)
  const page = await context.newPage()
  const began = performance.now()
  await open(page, key, mint)
  await Promise.all([
    page.locator('.virtual-box [data-key]').first().waitFor(),
    page.locator('canvas').first().waitFor()
  ])
  const ms = performance.now() - began
  await context.close()
  return ms
}

/** Returns the process of the page: the busiest renderer. */
async function rendererPid(): Promise<number> {
  const session = await browser.newBrowserCDPSession()
  const { processInfo } = await session.send('SystemInfo.getProcessInfo')
  const renderers = processInfo.filter(({ type }) => type === 'renderer')
  return renderers.toSorted((a, b) => b.cpuTime - a.cpuTime)[0]!.id
}

/** Returns the live heap of the page after a collection. */
async function heapMib(session: CDPSession, page: Page): Promise<number> {
  await session.send('HeapProfiler.collectGarbage')
  return (await page.evaluate<number>('performance.memory.usedJSHeapSize')) / MIB
}

/** Returns the processor time of the page's main thread in milliseconds. */
async function mainThreadMs(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics')
  return metrics.find(({ name }) => name === 'TaskDuration')!.value * 1_000
}

async function startProfile(session: CDPSession): Promise<void> {
  await session.send('Profiler.enable')
  await session.send('Profiler.start')
}

async function writeProfile(session: CDPSession, path: string): Promise<void> {
  const { profile: found } = await session.send('Profiler.stop')
  writeFileSync(path, JSON.stringify(found))
}
