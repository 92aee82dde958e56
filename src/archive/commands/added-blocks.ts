import { decodeSourced } from '../../../actors/ingest/decoding.ts'
import { unseenReason } from '../../../actors/ingest/unseen-calls.ts'
import { DECODER_VERSION } from '../../chain/decoder-version.ts'
import { KnownVaults } from '../../chain/known-vaults.ts'
import type { Config } from '../../kernel/config/config.ts'
import type { BlockSource } from '../../node/block-source.ts'
import type { FactWriter } from '../facts/fact-writer.ts'
import { ImportTools } from '../import-tools.ts'

/** A block that an import has read, and the number of its trades. */
export interface AddedBlock {
  readonly slot: number
  readonly trades: number
}

/** How the blocks of a source are added to an archive. */
export interface BlockAddition {
  readonly writer: FactWriter
  readonly config: Config
  /** Ends the source. */
  readonly signal: AbortSignal
  /** Called with each block, which is durable at the end at the latest. */
  readonly onBlock: (block: AddedBlock) => void
}

/** Decodes the blocks of a source that ends, and stores them as facts. What was read is durable even if the source fails. */
export async function addBlocks(
  source: BlockSource,
  { writer, config, signal, onBlock }: BlockAddition
): Promise<void> {
  const tools = new ImportTools(config)
  const vaults = new KnownVaults(undefined)
  try {
    for await (const sourced of source.blocks({ after: null, signal })) {
      const { block, notes } = await decodeSourced(sourced, tools.transferFees, vaults)
      await writer.addBlock({
        block,
        decoderVersion: DECODER_VERSION,
        venues: null,
        unseen: unseenReason(notes)
      })
      const trades = block.entries.filter(({ event }) => event.kind === 'trade').length
      onBlock({ slot: block.slot, trades })
    }
  } finally {
    await tools.close()
    await writer.flush()
  }
}
