import { indexedSource } from '../../../actors/ingest/source.ts'
import { DECODER_VERSION } from '../../chain/decoder-version.ts'
import type { Config } from '../../kernel/config/config.ts'
import { systemPorts } from '../../ports.ts'
import type { RecordedIndex } from '../../recorded/scan.ts'
import type { FactStore } from '../../../storage/port.ts'
import { isDecodedBy } from '../facts/block-pack.ts'
import type { FactWriter } from '../facts/fact-writer.ts'
import { addBlocks } from './added-blocks.ts'

/** Blocks of folders, by what an import has done with them. */
export class BlockTally {
  /** Blocks that are to be read. */
  due = 0
  blocks = 0
  trades = 0
  /** Blocks that the archive had before, decoded by this version. */
  stored = 0
  /** Slots at or after the first indexed one, which the service indexes itself. Ascending in each folder. */
  readonly live: number[] = []
}

/** Decodes the blocks of a folder that the archive lacks, and stores them as facts. */
export async function readBlocks(
  index: RecordedIndex,
  {
    facts,
    writer,
    firstLive,
    tally,
    config,
    signal,
    onBlock
  }: {
    readonly facts: FactStore
    readonly writer: FactWriter
    /** The first indexed slot; null if nothing is indexed. */
    readonly firstLive: number | null
    readonly tally: BlockTally
    readonly config: Config
    readonly signal: AbortSignal
    readonly onBlock: (slot: number) => void
  }
): Promise<void> {
  const due: number[] = []
  for (const slot of index.slots) {
    if (signal.aborted) return
    if (firstLive !== null && slot >= firstLive) tally.live.push(slot)
    else if (await isStored(facts, slot)) tally.stored++
    else due.push(slot)
  }
  tally.due += due.length
  await addBlocks(indexedSource({ ...index, slots: due }, systemPorts.clock), {
    ...{ writer, config, signal },
    onBlock: ({ slot, trades }) => {
      tally.blocks++
      tally.trades += trades
      onBlock(slot)
    }
  })
}

const isStored = async (facts: FactStore, slot: number): Promise<boolean> =>
  (await facts.at('block', slot)).some((pack) => isDecodedBy(pack, DECODER_VERSION))
