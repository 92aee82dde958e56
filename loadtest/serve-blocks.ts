import { aborted } from '../actors/supervision/aborted.ts'
import type { Run } from '../actors/supervision/process.ts'
import { configMask } from '../src/configuration.ts'
import type { Config } from '../src/kernel/config/config.ts'
import { setServingHeap } from '../src/kernel/memory/serving-heap.ts'
import { createLogger } from '../src/kernel/telemetry/logger.ts'
import type { BlockSource, SourcedBlock } from '../src/node/block-source.ts'
import { sleep, systemPorts } from '../src/ports.ts'
import { startService } from '../src/service.ts'
import { version } from '../src/version.ts'
import { PRODUCTS } from '../test/products/loaded-products.ts'
import { LIVE } from './recorded-block.ts'

/** Yields the numbers of blocks from 0 on, each when its block is due at mainnet's live rate, until the signal aborts. */
export async function* atLiveRate(signal: AbortSignal): AsyncGenerator<number> {
  const { clock } = systemPorts
  const startMs = clock.now()
  for (let n = 0; ; n++) {
    await sleep(clock, Math.max(0, startMs + (n * 1000) / LIVE.blocksPerSecond - clock.now()), signal)
    if (signal.aborted) return
    yield n
  }
}

/**
 * Runs the service in this process with the blocks of a source that is asked for those after a slot. Prints the line
 * `listening on URL`; resolves once SIGTERM has ended the service.
 */
export async function serveBlocks(
  config: Config,
  blocks: (after: number | null, signal: AbortSignal) => AsyncGenerator<SourcedBlock>
): Promise<void> {
  const source: Run<unknown, BlockSource> = async ({ draining, ready }) => {
    ready({ blocks: ({ after, signal }) => blocks(after, signal) })
    await aborted(draining)
  }
  const service = startService({
    products: PRODUCTS,
    config,
    logger: createLogger(config, configMask(config)),
    version,
    source,
    onFirstKeys: () => undefined,
    onListening: (port) => {
      setServingHeap(false)
      process.stdout.write(`listening on http://127.0.0.1:${port}\n`)
    }
  })
  process.once('SIGTERM', () => void service.drain())
  await service.done
  process.disconnect?.()
}
