import type { BlockSource, SourcedBlock } from '../src/block-source.ts'
import { sleep, type Clock } from '../src/ports.ts'
import { readRecorded } from '../src/recorded/read.ts'
import { scanRecorded, type RecordedIndex } from '../src/recorded/scan.ts'
import type { Logger } from '../src/telemetry.ts'
import { aborted } from './aborted.ts'
import type { Run } from './process.ts'

export interface RecordedOptions {
  readonly directory: string
  /** `max`, or a factor of the pace that the block times have. */
  readonly speed: 'max' | number
}

/**
 * The process of a recorded folder. It is ready at once, so that what is stored is served while a large folder is still
 * looked through; whoever asks for blocks waits for that.
 */
export function recordedSource(
  options: RecordedOptions,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger }
): Run<unknown, BlockSource> {
  return async ({ draining, ready, gauge }) => {
    const indexing = scanRecorded(options.directory, {
      signal: draining,
      onProblem: ({ reason, file, line, detail }) =>
        logger.warn({ reason, file, line: line ?? undefined }, `recorded folder: ${detail}`)
    })
    ready({ blocks: ({ after, signal }) => paced(indexing, after, options.speed, clock, signal) })
    const index = await indexing
    if (draining.aborted) return
    tellOf(index, logger)
    gauge('slots', () => index.slots.length)
    gauge('problems', () => index.problems.total)
    await aborted(draining)
  }
}

function tellOf(index: RecordedIndex, logger: Logger): void {
  const facts = {
    slots: index.slots.length,
    files: index.files,
    repeated: index.repeated,
    left_out: index.problems.counts
  }
  if (index.kind === 'indexed') logger.info(facts, `recorded folder ${index.directory} is indexed`)
  else
    logger.warn(facts, `recorded folder ${index.directory} holds no block or transaction that can be served`)
}

async function* paced(
  indexing: Promise<RecordedIndex>,
  after: number | null,
  speed: 'max' | number,
  clock: Clock,
  signal: AbortSignal
): AsyncGenerator<SourcedBlock> {
  const index = await indexing
  let start: { readonly clockMs: number; readonly blockTime: number } | null = null
  for await (const block of readRecorded(index, { fromSlot: after === null ? 0 : after + 1 })) {
    if (speed !== 'max') {
      start ??= { clockMs: clock.now(), blockTime: block.blockTime }
      const dueMs = start.clockMs + ((block.blockTime - start.blockTime) * 1000) / speed
      await sleepUntil(dueMs, clock, signal)
    }
    if (signal.aborted) return
    yield { block, commitment: 'finalized', receivedAtMs: block.blockTime * 1000 }
  }
}

/** A timer waits at most about 24.8 days; a recorded folder may hold years. */
async function sleepUntil(dueMs: number, clock: Clock, signal: AbortSignal): Promise<void> {
  for (let left = dueMs - clock.now(); left > 0 && !signal.aborted; left = dueMs - clock.now()) {
    await sleep(clock, Math.min(left, 2 ** 31 - 1), signal)
  }
}
