import { encodeBase58 } from '../../chain/base58.ts'
import type { CacheUse } from '../../kernel/memory/second-chance-cache.ts'
import type { LocalBlock } from '../chain.ts'
import { Rendered, writeJson } from './json.ts'
import { unsupportedVersion } from './rpc-error.ts'
import {
  encodeAccountsOnly,
  encodeExecuted,
  type EncodedTransaction,
  type TransactionEncoding
} from './transaction-encoding.ts'

export const TRANSACTION_DETAILS = ['full', 'signatures', 'none', 'accounts'] as const

/** Number of texts whose second request is detected: for followers that are a minute apart, in a few forms. */
const ONCE_MAX = 512

export interface BlockForm {
  readonly encoding: TransactionEncoding
  readonly details: (typeof TRANSACTION_DETAILS)[number]
  readonly rewards: boolean
  /** The highest version that the client supports; null if the client states no version. */
  readonly versionMax: number | null
}

/**
 * Caches blocks in the form of getBlock. Only confirmed blocks are requested, so they never change. A block is cached
 * in a form at the second request. Several followers request equal blocks, but a single follower would fill the cache with
 * texts that nobody reads. The cache is an LRU with at most `charactersMax` characters (one byte each, except for logs in
 * other scripts).
 */
export class RenderedBlocks {
  readonly #charactersMax: number
  readonly #cached = new Map<string, CachedText>()
  /** Keys of texts that were rendered once, oldest first. */
  readonly #once = new Set<string>()
  #characters = 0

  constructor(charactersMax = 64 * 1024 * 1024) {
    this.#charactersMax = charactersMax
  }

  /** The number of cached characters. */
  get characters(): number {
    return this.#characters
  }

  get cache(): CacheUse {
    return { bytes: this.#characters, bytesMax: this.#charactersMax }
  }

  /** Returns the cached block of a slot; null if it is not cached. Throws as `render` does. */
  find(slot: number, form: BlockForm): Rendered | null {
    const key = keyOf(slot, form)
    const cached = this.#cached.get(key)
    if (cached === undefined) return null
    this.#cached.delete(key)
    this.#cached.set(key, cached)
    return readable(cached, form)
  }

  /** Renders a block. Throws if it has a transaction of a version that the client does not support. */
  render(block: LocalBlock, form: BlockForm): Rendered {
    const cached = renderBlock(block, form)
    const key = keyOf(block.slot, form)
    if (this.#once.delete(key)) this.#put(key, cached)
    else {
      this.#once.add(key)
      if (this.#once.size > ONCE_MAX) this.#once.delete(this.#once.values().next().value!)
    }
    return readable(cached, form)
  }

  #put(key: string, cached: CachedText): void {
    this.#cached.set(key, cached)
    this.#characters += cached.rendered.text.length
    for (const [key, { rendered }] of this.#cached) {
      if (this.#characters <= this.#charactersMax) break
      this.#cached.delete(key)
      this.#characters -= rendered.text.length
    }
  }
}

interface CachedText {
  readonly rendered: Rendered
  /** The highest version of a shown transaction. */
  readonly version: number
}

function readable({ rendered, version }: CachedText, { versionMax }: BlockForm): Rendered {
  if (version > (versionMax ?? NO_VERSION)) throw unsupportedVersion(version)
  return rendered
}

/** Returns the cache key. Every version is rendered; whether the client supports it is checked afterwards. */
function keyOf(slot: number, { encoding, details, rewards, versionMax }: BlockForm): string {
  const said = versionMax === null ? 'unsaid' : 'said'
  // If transactions are not complete, the encoding has no effect.
  const body = details === 'full' ? `${details} ${encoding}` : details
  return `${slot} ${body} ${said} ${rewards}`
}

const NO_VERSION = -1

function renderBlock(block: LocalBlock, form: BlockForm): CachedText {
  const { body, version } = bodyOf(block, form)
  const rendered = new Rendered(
    writeJson({
      previousBlockhash: encodeBase58(block.previousBlockhash),
      blockhash: encodeBase58(block.blockhash),
      parentSlot: block.parentSlot,
      ...body,
      // The leader's share of fees is not paid out on a localnet.
      ...(form.rewards ? { rewards: [] } : {}),
      blockTime: block.blockTime,
      blockHeight: block.blockHeight
    })
  )
  return { rendered, version }
}

const ANY_VERSION = 255

/** Returns the fields of a block's transactions, and the highest version that they show. */
function bodyOf(
  { transactions }: LocalBlock,
  { encoding, details, versionMax }: BlockForm
): { readonly body: object; readonly version: number } {
  switch (details) {
    case 'full':
      return shown(
        transactions.map((each) => encodeExecuted(each, encoding, ANY_VERSION)),
        versionMax
      )
    case 'accounts':
      return shown(
        transactions.map((each) => encodeAccountsOnly(each, ANY_VERSION)),
        versionMax
      )
    case 'signatures':
      return {
        body: { signatures: transactions.map(({ signature }) => encodeBase58(signature)) },
        version: NO_VERSION
      }
    case 'none':
      return { body: {}, version: NO_VERSION }
  }
}

/** All versions are rendered; the caller refuses versions that the client does not support. */
function shown(encoded: readonly EncodedTransaction[], versionMax: number | null) {
  const versions = encoded.map(({ version = 'legacy' }) => (version === 'legacy' ? NO_VERSION : version))
  return {
    body: {
      transactions: encoded.map(({ transaction, meta, version }) =>
        versionMax === null ? { transaction, meta } : { transaction, meta, version }
      )
    },
    version: Math.max(NO_VERSION, ...versions)
  }
}
