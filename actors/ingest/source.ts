import { StartRefused } from '../../machines/start-refused.ts'
import type { BlockSource, SourcedBlock } from '../../src/node/block-source.ts'
import type { Block } from '../../src/chain/transaction.ts'
import { sleep, type Clock } from '../../src/ports.ts'
import { standingOf, type FolderStanding, type StoredBlocks } from '../../src/recorded/chain-check.ts'
import { readRecorded } from '../../src/recorded/read.ts'
import { RecordedReport } from '../../src/recorded/report.ts'
import { scanRecorded, type RecordedIndex } from '../../src/recorded/scan.ts'
import type { Logger } from '../../src/kernel/telemetry/logger.ts'
import { aborted } from '../supervision/aborted.ts'
import type { Run } from '../supervision/process.ts'

export interface RecordedOptions {
  readonly directory: string
  /** `max`, or a multiple of the original pace given by block times. */
  readonly speed: 'max' | number
  /** The stored chain, with which the folder is compared before its first block; without it any folder is accepted. */
  readonly stored?: {
    readonly blocks: StoredBlocks
    /** The setting that names the store's location, for messages. */
    readonly variable: string
    readonly value: string
  }
  /** Receives the state of the folder. */
  readonly report?: RecordedReport
}

/**
 * Reads a recorded folder. The process is ready at once, so that stored data is served while a large folder is
 * indexed; readers wait for the index. Reading rejects with StartRefused if the folder is of another chain than the
 * store.
 */
export function recordedSource(
  options: RecordedOptions,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger }
): Run<unknown, BlockSource> {
  const { directory, speed, stored, report = new RecordedReport() } = options
  return async ({ draining, ready, gauge }) => {
    const problems = report.begin(directory, ({ reason, file, line, detail }) =>
      logger.warn({ reason, file, line: line ?? undefined }, `recorded folder: ${detail}`)
    )
    const indexing = scanRecorded(directory, { signal: draining, problems })

    async function* blocks({ after, signal }: Parameters<BlockSource['blocks']>[0]) {
      const index = await indexing
      if (signal.aborted || draining.aborted) return
      if (stored !== undefined && index.kind === 'indexed') {
        const standing = await standingOf(index, stored.blocks)
        report.standing = standing
        logStanding(index, standing, logger)
        if (standing.kind === 'other') {
          const { variable, value } = stored
          throw new StartRefused(
            `MILLRACE_RECORDED_DIR=${directory} is of another chain than the store of ${variable}=${value}: ${standing.detail}; give this folder its own ${variable}`
          )
        }
      }
      yield* paced(index, after, speed, clock, signal)
    }

    ready({ blocks, refetch: async (slot) => refetchBlock(await indexing, slot) })
    const index = await indexing
    if (draining.aborted) return
    report.index = index
    logRecording(index, logger)
    gauge('slots', () => index.slots.length)
    gauge('problems', () => index.problems.total)
    await aborted(draining)
  }
}

/** Reads the blocks of an indexed folder, as fast as they are taken. */
export function indexedSource(
  index: RecordedIndex,
  clock: Clock
): Required<Pick<BlockSource, 'blocks' | 'refetch'>> {
  return {
    blocks: ({ after, signal }) => paced(index, after, 'max', clock, signal),
    refetch: (slot) => refetchBlock(index, slot)
  }
}

function logRecording(index: RecordedIndex, logger: Logger): void {
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

/** Logs which slots of the folder are read, and warns of oddities. */
function logStanding(
  { directory, slots }: RecordedIndex,
  { kind, detail, head, above, compared, notStored }: FolderStanding,
  logger: Logger
): void {
  const folder = `recorded folder ${directory}`
  const facts = { head, slots: slots.length, slots_above_head: above }
  if (kind === 'empty' || kind === 'other') return
  if (kind === 'unknown' && above > 0)
    logger.warn(
      facts,
      `${folder} is assumed to be of the stored chain, which could not be verified: ${detail}`
    )
  if (kind === 'same' && detail !== null)
    logger.warn(facts, `${folder} has blocks of the stored chain and of another chain: ${detail}`)
  const missing =
    notStored === 0
      ? ''
      : `; ${notStored} of ${compared} of these slots that were checked are not stored, and blocks are added in ascending order only: to have them, read the folder into an empty MILLRACE_DATA_DIR`
  const below = slots.length - above
  const range = `from ${slots[0]} to ${slots[below - 1]}`
  // A restart on a folder that was read completely is normal.
  const isReadBefore = kind === 'same' && notStored === 0
  if (above === 0)
    logger[isReadBefore ? 'info' : 'warn'](
      facts,
      `nothing is read from ${folder}: all of its ${below} slots, ${range}, are at or below slot ${head}, the newest that is stored${missing}`
    )
  else if (notStored > 0)
    logger.warn(
      facts,
      `${below} slots of ${folder}, ${range}, are at or below slot ${head}, the newest that is stored, and are not read${missing}`
    )
}

async function* paced(
  index: RecordedIndex,
  after: number | null,
  speed: 'max' | number,
  clock: Clock,
  signal: AbortSignal
): AsyncGenerator<SourcedBlock> {
  let start: { readonly clockMs: number; readonly blockTime: number } | null = null
  for await (const block of readRecorded(index, { fromSlot: after === null ? 0 : after + 1 })) {
    if (speed !== 'max') {
      start ??= { clockMs: clock.now(), blockTime: block.blockTime }
      const dueMs = start.clockMs + ((block.blockTime - start.blockTime) * 1000) / speed
      await sleepUntil(dueMs, clock, signal)
    }
    if (signal.aborted) return
    yield recorded(block)
  }
}

/** Reads one block; a folder does not say anything about slots that it does not hold. */
async function refetchBlock(index: RecordedIndex, slot: number): Promise<SourcedBlock | null> {
  if (!index.bySlot.has(slot)) return null
  for await (const block of readRecorded(index, { fromSlot: slot })) return recorded(block)
  return null
}

const recorded = (block: Block): SourcedBlock => ({
  block,
  commitment: 'finalized',
  receivedAtMs: block.blockTime * 1000
})

/** A timer waits at most about 24.8 days; a recorded folder may hold years. */
async function sleepUntil(dueMs: number, clock: Clock, signal: AbortSignal): Promise<void> {
  for (let left = dueMs - clock.now(); left > 0 && !signal.aborted; left = dueMs - clock.now()) {
    await sleep(clock, Math.min(left, 2 ** 31 - 1), signal)
  }
}
