import { encodeBase58 } from '../../chain/base58.ts'
import type { CacheUse } from '../../memory/second-chance.ts'
import type { LocalBlock } from '../chain.ts'
import { Rendered, writeJson } from './json.ts'
import { unsupportedVersion } from './rpc-error.ts'
import {
  encodeAccountsOnly,
  encodeExecuted,
  wireOf,
  type EncodedTransaction,
  type TransactionEncoding
} from './transaction-encoding.ts'

export const TRANSACTION_DETAILS = ['full', 'signatures', 'none', 'accounts'] as const

export interface BlockForm {
  readonly encoding: TransactionEncoding
  readonly details: (typeof TRANSACTION_DETAILS)[number]
  readonly rewards: boolean
  /** The highest version that the client reads; null where it knows of none. */
  readonly versionMax: number | null
}

/**
 * Blocks as getBlock writes them, none of which is asked for before it is confirmed: what is confirmed stays. A block is
 * rendered once for each form that is asked for, and the text is kept: all who follow the chain ask for the same few. What is
 * kept has at most `charactersMax` characters (one byte each, but for logs in other scripts); beyond, what was asked for
 * longest ago goes.
 */
export class RenderedBlocks {
  readonly #charactersMax: number
  readonly #kept = new Map<string, KeptText>()
  #characters = 0

  constructor(charactersMax = 64 * 1024 * 1024) {
    this.#charactersMax = charactersMax
  }

  /** How many characters are kept. */
  get characters(): number {
    return this.#characters
  }

  get cache(): CacheUse {
    return { bytes: this.#characters, bytesMax: this.#charactersMax }
  }

  /** The block of a slot where it is rendered already, else null. Throws as `render` does. */
  find(slot: number, form: BlockForm): Rendered | null {
    const key = keyOf(slot, form)
    const kept = this.#kept.get(key)
    if (kept === undefined) return null
    this.#kept.delete(key)
    this.#kept.set(key, kept)
    return readable(kept, form)
  }

  /** Throws where the block has a transaction of a version that the form's client does not read. */
  render(block: LocalBlock, form: BlockForm): Rendered {
    const kept = { rendered: renderBlock(block, form), version: highestVersion(block, form) }
    this.#kept.set(keyOf(block.slot, form), kept)
    this.#characters += kept.rendered.text.length
    for (const [key, { rendered }] of this.#kept) {
      if (this.#characters <= this.#charactersMax) break
      this.#kept.delete(key)
      this.#characters -= rendered.text.length
    }
    return readable(kept, form)
  }
}

interface KeptText {
  readonly rendered: Rendered
  /** The highest version of a transaction that is shown. */
  readonly version: number
}

function readable({ rendered, version }: KeptText, { versionMax }: BlockForm): Rendered {
  if (version > (versionMax ?? NO_VERSION)) throw unsupportedVersion(version)
  return rendered
}

/** Every version is rendered; whether the client reads it is asked afterwards. */
function keyOf(slot: number, { encoding, details, rewards, versionMax }: BlockForm): string {
  const said = versionMax === null ? 'unsaid' : 'said'
  // Without whole transactions the encoding says nothing.
  const body = details === 'full' ? `${details} ${encoding}` : details
  return `${slot} ${body} ${said} ${rewards}`
}

const NO_VERSION = -1

/** The highest version of a transaction that the form shows. */
function highestVersion(block: LocalBlock, { details }: BlockForm): number {
  if (details === 'none' || details === 'signatures') return NO_VERSION
  let highest = NO_VERSION
  for (const transaction of block.transactions) {
    const { version } = wireOf(transaction)
    if (version !== 'legacy' && version > highest) highest = version
  }
  return highest
}

function renderBlock(block: LocalBlock, form: BlockForm): Rendered {
  return new Rendered(
    writeJson({
      previousBlockhash: encodeBase58(block.previousBlockhash),
      blockhash: encodeBase58(block.blockhash),
      parentSlot: block.parentSlot,
      ...transactionsOf(block, form),
      // The leader's share of fees goes to nobody on a localnet.
      ...(form.rewards ? { rewards: [] } : {}),
      blockTime: block.blockTime,
      blockHeight: block.blockHeight
    })
  )
}

const ANY_VERSION = 255

function transactionsOf({ transactions }: LocalBlock, { encoding, details, versionMax }: BlockForm): object {
  // A version too high is refused by who asks for the rendered block; here all are rendered, and told where asked for.
  const shown = ({ transaction, meta, version }: EncodedTransaction): object =>
    versionMax === null ? { transaction, meta } : { transaction, meta, version }
  switch (details) {
    case 'full':
      return { transactions: transactions.map((each) => shown(encodeExecuted(each, encoding, ANY_VERSION))) }
    case 'accounts':
      return { transactions: transactions.map((each) => shown(encodeAccountsOnly(each, ANY_VERSION))) }
    case 'signatures':
      return { signatures: transactions.map(({ signature }) => encodeBase58(signature)) }
    case 'none':
      return {}
  }
}
