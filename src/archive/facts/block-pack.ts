import { deserialize, serialize } from 'node:v8'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { VenueId } from '../../chain/venue-id.ts'
import type { DecodedBlock } from '../../market/block.ts'
import { ERRORS, ServiceError } from '../../kernel/errors.ts'
import { FACT_BYTES_MAX, type Fact, type GapRow } from '../../../storage/port.ts'
import { sealedFact, unsealed } from './sealed.ts'

/** A whole block, as an archive stores it: with the events of all venues, whichever are indexed. */
export interface ArchivedBlock {
  readonly block: DecodedBlock
  readonly decoderVersion: number
  /** Venues whose events it has; null for all. Blocks of an earlier version's archive have those that it indexed. */
  readonly venues: readonly VenueId[] | null
  /** Why events of the block may be missing; null if none are. */
  readonly unseen: Pick<GapRow, 'reason' | 'detail'> | null
}

const ALL_VENUES = 255

/** Returns whether a pack was decoded by a version, or a later one, with all venues. */
export const isDecodedBy = ({ key }: Fact, decoderVersion: number): boolean =>
  key[0]! * 256 + key[1]! >= decoderVersion && key[2] === ALL_VENUES

/** Packs a block. It is serialized as the engine clones objects, which needs no layout, and compressed. */
export function packBlock(archived: ArchivedBlock): Fact {
  const { block, decoderVersion, venues } = archived
  const head = [decoderVersion >> 8, decoderVersion & 255, venues === null ? ALL_VENUES : venues.length]
  const fact = sealedFact(block.slot, zstdCompressSync(serialize(archived)), head)
  if (fact.value.length > FACT_BYTES_MAX)
    throw new ServiceError(
      ERRORS.STORAGE_UNAVAILABLE,
      `the events of slot ${archived.block.slot} take ${fact.value.length} bytes; the limit is ${FACT_BYTES_MAX}`
    )
  return fact
}

/** Returns a packed block. Throws STORAGE_UNAVAILABLE for a damaged one. */
export const unpackBlock = (pack: Fact): ArchivedBlock =>
  deserialize(zstdDecompressSync(unsealed(pack))) as ArchivedBlock

/**
 * Returns the pack of a slot that counts: of the newest decoder, then with the most venues, then with a hash, then the one
 * with the lowest key. So the choice does not depend on the order of imports.
 */
export const chosenBlock = (packs: readonly Fact[]): ArchivedBlock | null => chosen(packs)?.archived ?? null

/** Returns whether packs that are added to those of a slot change which one counts. */
export function changesChoice(stored: readonly Fact[], added: readonly Fact[]): boolean {
  const [before, after] = [chosen(stored), chosen([...stored, ...added])]
  return before === null || after === null || !before.key.equals(after.key)
}

function chosen(packs: readonly Fact[]) {
  const ranked = packs
    .map((pack) => ({ key: Buffer.from(pack.key), archived: unpackBlock(pack) }))
    .sort((a, b) => rankOf(b.archived) - rankOf(a.archived) || Buffer.compare(a.key, b.key))
  return ranked[0] ?? null
}

const rankOf = ({ decoderVersion, venues, block }: ArchivedBlock): number =>
  decoderVersion * 1_000 + (venues?.length ?? 500) * 2 + (block.blockhash === null ? 0 : 1)
