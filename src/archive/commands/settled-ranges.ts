import type { VenueId } from '../../chain/venue-id.ts'
import type { SlotRow } from '../../market/rows.ts'
import type { FactStore, Storage } from '../../../storage/port.ts'
import {
  BlockRanges,
  composedRanges,
  readArchivedRanges,
  recordArchivedRanges,
  type BlockRange,
  type FileRanges
} from '../archived-ranges.ts'
import { unpackBlock, type ArchivedBlock } from '../facts/block-pack.ts'
import type { ImportSource } from '../facts/import-state.ts'

/** The ranges of whole blocks in a store, which a fold continues. */
export class FoldedRanges {
  readonly #blocks: BlockRanges
  readonly #venues: readonly VenueId[]

  private constructor(before: readonly BlockRange[], venues: readonly VenueId[]) {
    this.#blocks = new BlockRanges(before)
    this.#venues = venues
  }

  /** Reads the ranges of a store up to its head. Blocks that an interrupted fold has added are read from the facts. */
  static async open(storage: Storage, facts: FactStore, venues: readonly VenueId[]): Promise<FoldedRanges> {
    const stored = (await readArchivedRanges(storage)) ?? []
    const before = stored.filter(({ origin }) => origin === 'blocks')
    const ranges = new FoldedRanges(before, venues)
    const head = (await storage.blocks.head())?.slot ?? -1
    const from = (before.at(-1)?.to ?? -1) + 1
    if (from > head) return ranges
    for await (const packs of facts.from('block', from))
      for (const pack of packs) {
        if (pack.position > head) return ranges
        ranges.add(unpackBlock(pack))
      }
    return ranges
  }

  add({ block, venues, decoderVersion }: ArchivedBlock): void {
    const isUnknown = decoderVersion === 0
    const own = venues === null ? this.#venues : this.#venues.filter((venue) => venues.includes(venue))
    this.#blocks.add(block, {
      venues: isUnknown ? null : own,
      decoderVersion: isUnknown ? null : decoderVersion
    })
  }

  /** Stores the ranges of blocks and files. */
  async record(storage: Storage, sources: readonly ImportSource[]): Promise<void> {
    const [first, head] = await Promise.all([storage.blocks.firstSince(0), storage.blocks.head()])
    if (first === null || head === null) return
    const files = await Promise.all(sources.map((source) => fileRanges(storage, source, head)))
    const ends = { first, last: head.slot }
    await recordArchivedRanges(storage, composedRanges(this.#blocks.ranges, files, this.#venues, ends))
  }
}

/** Returns the slots of a file; rows without a slot have those of their times. */
async function fileRanges(
  storage: Storage,
  { name, columns, slots, times }: ImportSource,
  head: SlotRow
): Promise<FileRanges> {
  const ranges = { ...slots }
  for (const [venue, time] of Object.entries(times) as [VenueId, { from: number; to: number }][]) {
    const from = await storage.blocks.firstSince(time.from)
    if (from === null) continue
    const to = ((await storage.blocks.firstSince(time.to + 1)) ?? head.slot + 1) - 1
    const known = ranges[venue]
    ranges[venue] = { from: Math.min(from, known?.from ?? from), to: Math.max(to, known?.to ?? to) }
  }
  return { name, columns, slots: ranges }
}
