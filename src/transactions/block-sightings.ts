import { decodeBase58, encodeBase58 } from '../chain/base58.ts'
import type { Block } from '../chain/transaction.ts'
import type { SourcedBlock } from '../node/block-source.ts'
import type { BlockCommit } from '../market/records.ts'
import type { BlockObserver } from '../ingest/committed-blocks.ts'
import type { BlockSightings, SightedBlock, Sighting } from './ports.ts'
import { RecentBlockhashes } from './recent-blockhashes.ts'
import { WatchedNonces } from './watched-nonces.ts'

type Listener = Parameters<BlockSightings['subscribe']>[0]

interface Watched {
  readonly signature: string
  /** Number of callers of `watch`. */
  watchers: number
}

/**
 * Searches the blocks that this process ingests for watched signatures. A block costs almost nothing while no
 * signature is watched. Otherwise it costs one look-up by four bytes per transaction, and base58 encoding for each
 * match.
 */
export class WatchedSignatures implements BlockSightings, BlockObserver {
  /** Watched signatures by their first four bytes. */
  readonly #watched = new Map<number, Watched[]>()
  readonly #listeners = new Set<Listener>()
  readonly #blockhashes = new RecentBlockhashes()
  readonly #nonces = new WatchedNonces()
  #newest: { readonly slot: number; readonly height: number | null } | null = null
  #readTo = -1
  /** The highest slot of the recalled blocks, which are not searched. */
  #recalledTo = -1

  get newest(): { readonly slot: number; readonly height: number | null } | null {
    return this.#newest
  }

  /**
   * Searches each block that is read after this call for a signature (base58 of 64 bytes; throws a RangeError for
   * another size), and for uses of a nonce account (base58). A block already read but not yet committed is not
   * searched again.
   */
  watch(signature: string, nonceAccount: string | null = null): () => void {
    const bytes = decodeBase58(signature)
    if (bytes.length !== 64) throw new RangeError('a signature has 64 bytes')
    const watched = this.#watchedAt(hashOf(bytes), signature)
    watched.watchers++
    const unwatchNonce = nonceAccount === null ? null : this.#nonces.watch(nonceAccount)
    let isWatching = true
    return () => {
      if (isWatching) this.#unwatch(watched)
      isWatching = false
      unwatchNonce?.()
    }
  }

  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  lastValidBlockHeight(blockhash: string): number | null {
    return this.#blockhashes.lastValidBlockHeight(blockhash)
  }

  get heights(): { readonly first: number; readonly last: number } | null {
    return this.#blockhashes.heights
  }

  get searched(): { readonly first: number; readonly last: number } | null {
    const slots = this.#blockhashes.slots
    if (slots === null) return null
    const first = Math.max(slots.first, this.#recalledTo + 1)
    return first > slots.last ? null : { first, last: slots.last }
  }

  get readTo(): number {
    return this.#readTo
  }

  read({ block, commitment }: SourcedBlock): () => void {
    const { slot, height = null, blockhash = null } = block
    this.#readTo = Math.max(this.#readTo, slot)
    const seen: SightedBlock = {
      slot,
      height,
      blockhash,
      commitment,
      sightings: this.#sightingsOf(block),
      nonces: this.#nonces.usesIn(block.transactions)
    }
    return () => {
      if (this.#newest === null || slot >= this.#newest.slot) this.#newest = { slot, height }
      if (height !== null && blockhash !== null) this.#blockhashes.add({ slot, height, blockhash })
      for (const listener of this.#listeners) listener.seen(seen)
    }
  }

  /** Advances `newest` with blocks of other processes, whose heights are unknown. */
  published({ slot: { slot } }: Pick<BlockCommit, 'slot'>): void {
    if (this.#newest === null || slot > this.#newest.slot) this.#newest = { slot, height: null }
  }

  lost(afterSlot: number): void {
    this.#blockhashes.forget(afterSlot)
    const { newest } = this.#blockhashes
    if (this.#newest !== null && this.#newest.slot > afterSlot)
      this.#newest =
        newest?.slot === afterSlot
          ? { slot: newest.slot, height: newest.height }
          : { slot: afterSlot, height: null }
    for (const listener of this.#listeners) listener.lost(afterSlot)
  }

  /** The blocks recalled for missing fees suffice: heights are needed for a window of equal length. */
  recall({ slot, height, blockhash }: Pick<Block, 'slot' | 'height' | 'blockhash'>): void {
    this.#recalledTo = Math.max(this.#recalledTo, slot)
    if (height !== undefined && blockhash !== undefined) this.#blockhashes.add({ slot, height, blockhash })
  }

  #watchedAt(hash: number, signature: string): Watched {
    const bucket = this.#watched.get(hash)
    const found = bucket?.find((each) => each.signature === signature)
    if (found !== undefined) return found
    const added = { signature, watchers: 0 }
    // Nearly every bucket has one signature. An array grown by `push` would have room for many.
    if (bucket === undefined) this.#watched.set(hash, [added])
    else bucket.push(added)
    return added
  }

  #unwatch(watched: Watched): void {
    if (--watched.watchers > 0) return
    const hash = hashOf(decodeBase58(watched.signature))
    const left = this.#watched.get(hash)!.filter((each) => each !== watched)
    if (left.length === 0) this.#watched.delete(hash)
    else this.#watched.set(hash, left)
  }

  #sightingsOf({ slot, transactions }: Block): Sighting[] {
    const sightings: Sighting[] = []
    if (this.#watched.size === 0) return sightings
    for (const [place, transaction] of transactions.entries()) {
      const bucket = this.#watched.get(hashOf(transaction.signature))
      if (bucket === undefined) continue
      const signature = encodeBase58(transaction.signature)
      if (!bucket.some((each) => each.signature === signature)) continue
      sightings.push({ signature, slot, index: transaction.index ?? place, failed: transaction.failed })
    }
    return sightings
  }
}

function hashOf(signature: Uint8Array): number {
  return signature[0]! | (signature[1]! << 8) | (signature[2]! << 16) | (signature[3]! << 24)
}
