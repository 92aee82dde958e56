import { z } from 'zod'
import { VENUE_IDS, type VenueId } from '../chain/venue-id.ts'
import { defineDocument } from '../../storage/document-definition.ts'
import type { DocumentStore } from '../../storage/document-store.ts'
import { Documents } from '../../storage/documents.ts'
import { ERRORS, ServiceError } from '../kernel/errors.ts'

const RANGE = z.object({
  from: z.number(),
  to: z.number(),
  origin: z.enum(['blocks', 'file']),
  /** Names of the files or folders whose rows are in the range; empty for blocks. */
  names: z.array(z.string()).readonly(),
  /** Names of the mappings by which their columns were read; empty for blocks. */
  columns: z.array(z.string()).readonly(),
  /** Indexed venues that the range has; null if unknown. */
  venues: z.array(z.enum(VENUE_IDS)).readonly().nullable(),
  /** Version of the decoder; null for rows of files, and if unknown. */
  decoderVersion: z.number().nullable()
})

/** A range of slots of an archive, both ends included, and what its rows are made of. */
export type ArchivedRange = z.infer<typeof RANGE>

/** A range of slots with whole blocks. */
export type BlockRange = Pick<ArchivedRange, 'from' | 'to' | 'venues' | 'decoderVersion'>

/** The slots of each venue that one path of an import has stated. */
export interface FileRanges {
  readonly name: string
  readonly columns: readonly string[]
  readonly slots: { readonly [Venue in VenueId]?: { readonly from: number; readonly to: number } | undefined }
}

const PARTITION = 'archive'
/** Ranges of a document: with names of usual lengths 10 KB; a document has at most 32 KiB. */
const RANGES_PER_DOCUMENT = 20
/** Names of a range; of more only the number is said. */
const NAMES_MAX = 3
const NAME_LENGTH_MAX = 100

const RANGES = defineDocument({
  kind: 'archived ranges',
  schema: z.object({ at: z.number(), ranges: z.array(RANGE) }),
  partition: () => PARTITION,
  key: ({ at }) => [at]
})

/** Reads the ranges of an archive, ascending; null for an archive of an earlier version. */
export async function readArchivedRanges(store: {
  readonly documents: DocumentStore
}): Promise<readonly ArchivedRange[] | null> {
  const stored = await new Documents(store.documents, RANGES).all(PARTITION)
  return stored.length === 0 ? null : stored.flatMap(({ value }) => value.ranges)
}

/** Replaces the ranges of an archive. Resolves once they are durable. */
export async function recordArchivedRanges(
  store: { readonly documents: DocumentStore },
  ranges: readonly ArchivedRange[]
): Promise<void> {
  const documents = new Documents(store.documents, RANGES)
  const stored = await documents.all(PARTITION)
  const count = Math.max(Math.ceil(ranges.length / RANGES_PER_DOCUMENT), 1)
  for (let at = 0; at < count; at++) {
    const value = { at, ranges: ranges.slice(at * RANGES_PER_DOCUMENT, (at + 1) * RANGES_PER_DOCUMENT) }
    const before = stored.find((each) => each.value.at === at)
    const { ok } = await (before === undefined ? documents.insert(value) : documents.update(before, value))
    if (!ok) throw new ServiceError(ERRORS.STORAGE_UNAVAILABLE, 'another import changes the archive')
  }
  for (const each of stored) if (each.value.at >= count) await documents.delete(each)
}

/**
 * Composes the ranges of an archive, ascending and without overlap. Blocks count before files. `venues` are the indexed ones,
 * `first` and `last` the ends of the archive.
 */
export function composedRanges(
  blocks: readonly BlockRange[],
  files: readonly FileRanges[],
  venues: readonly VenueId[],
  { first, last }: { readonly first: number; readonly last: number }
): ArchivedRange[] {
  const spans = files.flatMap((file) =>
    venues.flatMap((venue) => {
      const range = file.slots[venue]
      return range === undefined ? [] : [{ file, venue, from: range.from, to: range.to }]
    })
  )
  const borders = new Set([first, last + 1])
  for (const { from, to } of [...blocks, ...spans]) borders.add(from).add(to + 1)
  const starts = [...borders].filter((slot) => slot >= first && slot <= last + 1).sort((a, b) => a - b)
  const ranges: ArchivedRange[] = []
  const add = (range: ArchivedRange): void => {
    const before = ranges.at(-1)
    if (before !== undefined && before.to + 1 === range.from && isAlike(before, range))
      ranges[ranges.length - 1] = { ...before, to: range.to }
    else ranges.push(range)
  }
  for (const [at, from] of starts.slice(0, -1).entries()) {
    const to = starts[at + 1]! - 1
    const block = blocks.find((each) => each.from <= from && to <= each.to)
    if (block !== undefined) {
      const { decoderVersion } = block
      const known = block.venues === null ? null : venues.filter((venue) => block.venues!.includes(venue))
      add({ from, to, origin: 'blocks', names: [], columns: [], venues: known, decoderVersion })
      continue
    }
    const covering = spans.filter((span) => span.from <= from && to <= span.to)
    if (covering.length === 0) continue
    const named = [...new Set(covering.map(({ file }) => file))]
    add({
      ...{ from, to, origin: 'file', decoderVersion: null },
      names: shortened(named.map(({ name }) => name)),
      columns: [...new Set(named.flatMap(({ columns }) => columns))].sort(),
      venues: venues.filter((venue) => covering.some((span) => span.venue === venue))
    })
  }
  return ranges
}

function shortened(names: readonly string[]): string[] {
  const sorted = [...new Set(names)].sort().map((name) => name.slice(0, NAME_LENGTH_MAX))
  if (sorted.length <= NAMES_MAX) return sorted
  return [...sorted.slice(0, NAMES_MAX), `${sorted.length - NAMES_MAX} more`]
}

const isAlike = (
  { from: _, to: __, ...a }: ArchivedRange,
  { from: ___, to: ____, ...b }: ArchivedRange
): boolean => JSON.stringify(a) === JSON.stringify(b)

/** Slots between two blocks that may be skipped ones, if the later block does not name its parent. */
const SKIPPED_MAX = 64
/** Maximum ranges of blocks: 1 MB of memory. Beyond it the two with the fewest slots between them are joined. */
const RANGES_MAX = 1_000

/** Joins the whole blocks of an archive to ranges. Blocks ascend. */
export class BlockRanges {
  readonly #ranges: BlockRange[]

  constructor(before: readonly BlockRange[] = []) {
    this.#ranges = [...before]
  }

  add(
    { slot, parentSlot }: { readonly slot: number; readonly parentSlot: number | null },
    of: Pick<BlockRange, 'venues' | 'decoderVersion'>
  ): void {
    const last = this.#ranges.at(-1)
    const isNext =
      last !== undefined && (parentSlot === null ? slot - last.to <= SKIPPED_MAX : parentSlot <= last.to)
    const isSame =
      last !== undefined &&
      last.decoderVersion === of.decoderVersion &&
      last.venues?.join() === of.venues?.join()
    if (isNext && isSame) this.#ranges[this.#ranges.length - 1] = { ...last, to: slot }
    else this.#ranges.push({ from: slot, to: slot, ...of })
    if (this.#ranges.length > RANGES_MAX) this.#joinNearest()
  }

  get ranges(): readonly BlockRange[] {
    return this.#ranges
  }

  #joinNearest(): void {
    const gaps = this.#ranges.slice(1).map(({ from }, at) => from - this.#ranges[at]!.to)
    const at = gaps.indexOf(Math.min(...gaps))
    const [one, two] = [this.#ranges[at]!, this.#ranges[at + 1]!]
    this.#ranges.splice(at, 2, { ...one, to: two.to })
  }
}
