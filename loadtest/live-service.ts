/**
 * Runs the service on the store of a synthetic market while blocks arrive at mainnet's live rate. The first argument is the
 * market's directory, the others are flags of `serve`. The message `pause` from the parent process stops further blocks.
 */
import { aborted } from '../actors/supervision/aborted.ts'
import type { Run } from '../actors/supervision/process.ts'
import type { BlockSource, SourcedBlock } from '../src/node/block-source.ts'
import { configMask, readConfig } from '../src/configuration.ts'
import { sleep, systemPorts } from '../src/ports.ts'
import { PRODUCTS } from '../test/products/loaded-products.ts'
import { startService } from '../src/service.ts'
import { createLogger } from '../src/kernel/telemetry/logger.ts'
import { version } from '../src/version.ts'
import { LiveBlocks } from './live-blocks.ts'
import { Population } from './market/population.ts'
import { readMarketStore } from './market-store.ts'
import { LIVE } from './recorded-block.ts'

const [directory = '', ...flags] = process.argv.slice(2)
const market = readMarketStore(directory)
if (market === null) throw new Error(`${directory} holds no market`)
const reading = readConfig(flags)
if (reading.kind === 'invalid') throw new Error(reading.problems.join('; '))
const { headSlot, headTime } = market
const live = new LiveBlocks(new Population(market.size))
const pause = new AbortController()
process.once('message', () => pause.abort())

async function* blocks(after: number | null, signal: AbortSignal): AsyncGenerator<SourcedBlock> {
  const { clock } = systemPorts
  const stopped = AbortSignal.any([signal, pause.signal])
  const first = (after ?? headSlot) + 1
  const startMs = clock.now()
  for (let n = 0; ; n++) {
    await sleep(clock, Math.max(0, startMs + (n * 1000) / LIVE.blocksPerSecond - clock.now()), stopped)
    if (stopped.aborted) return
    const slot = first + n
    const blockTime = headTime + Math.floor((slot - headSlot) / LIVE.blocksPerSecond)
    yield {
      block: await live.at(n, slot, blockTime),
      commitment: 'confirmed',
      receivedAtMs: blockTime * 1000
    }
  }
}

const source: Run<unknown, BlockSource> = async ({ draining, ready }) => {
  ready({ blocks: ({ after, signal }) => blocks(after, signal) })
  await aborted(draining)
}

const { config } = reading
const service = startService({
  products: PRODUCTS,
  config: { ...config, recordedDir: directory },
  logger: createLogger(config, configMask(config)),
  version,
  source,
  onFirstKeys: () => undefined,
  onListening: (port) => process.stdout.write(`listening on http://127.0.0.1:${port}\n`)
})
process.once('SIGTERM', () => void service.drain())
await service.done
process.disconnect?.()
