import { distinctPubkeys, pubkeyMapKey, type Pubkey } from '../chain/pubkey.ts'
import type { Block } from '../chain/transaction.ts'
import type { BlockObserver, CommittedBlocks } from '../ingest/committed-blocks.ts'
import { touchedBy, type TouchedAccount } from './touched-accounts.ts'

/** A block that the index has. */
export interface ChainTick {
  readonly slot: number
  /** The accounts that lost all their lamports in the block; null if this process has not read the block. */
  readonly closed: readonly Pubkey[] | null
  /** The accounts that the listener's program may have changed; null if this process has not read the block. */
  readonly touched: readonly TouchedAccount[] | null
}

/** Changes of accounts by a block. */
interface Changes {
  readonly closed: readonly Pubkey[]
  readonly touched: ReadonlyMap<string, readonly TouchedAccount[]>
}

export interface ChainListener {
  /** Called for each block, in order. It must not throw. */
  tick(tick: ChainTick): void
  /** Some closed accounts may be unknown, because blocks were skipped, came late or have changed. It must not throw. */
  missed(why: string): void
}

/**
 * Reports for each committed block the accounts that it closed, and those that a program may have changed.
 * Subscriptions to a program do not report closed accounts: an account without lamports no longer has an owner.
 * Blocks cost nothing while there is no listener.
 */
export class ChainWatch {
  readonly #blocks: Pick<CommittedBlocks, 'subscribe'>
  readonly #listeners = new Map<ChainListener, Pubkey>()
  #unsubscribe: () => void = () => undefined

  constructor(blocks: Pick<CommittedBlocks, 'subscribe'>) {
    this.#blocks = blocks
  }

  subscribe(program: Pubkey, listener: ChainListener): () => void {
    if (this.#listeners.size === 0) this.#unsubscribe = this.#blocks.subscribe(this.#observer())
    this.#listeners.set(listener, program)
    return () => {
      if (this.#listeners.delete(listener) && this.#listeners.size === 0) this.#unsubscribe()
    }
  }

  #observer(): BlockObserver {
    let newest: number | null = null
    let committed: (Changes & { readonly slot: number }) | null = null
    return {
      read: ({ block }) => {
        const { slot } = block
        const programs = distinctPubkeys([...this.#listeners.values()])
        const changes = { slot, closed: closedIn(block), touched: touchedBy(programs, block) }
        return () => {
          if (newest !== null && slot <= newest) this.#missed(`block ${slot} came late`)
          else committed = changes
        }
      },
      published: ({ slot: { slot, parentSlot } }) => {
        if (newest !== null && parentSlot !== null && parentSlot > newest)
          this.#missed(`block ${parentSlot} is missing`)
        newest = slot
        const changes = committed?.slot === slot ? committed : null
        committed = null
        for (const [listener, program] of this.#listeners) {
          // A program whose subscription began after the block was read starts with a snapshot.
          const touched = changes?.touched.get(pubkeyMapKey(program)) ?? null
          listener.tick({ slot, closed: changes?.closed ?? null, touched })
        }
      },
      jumped: () => {
        newest = null
        this.#missed('blocks were skipped or have changed')
      },
      lost: (afterSlot) => this.#missed(`the blocks after slot ${afterSlot} were on a lost fork`)
    }
  }

  #missed(why: string): void {
    for (const each of this.#listeners.keys()) each.missed(why)
  }
}

/** Returns the accounts that had lamports before a block and have no lamports after it. */
export function closedIn({ transactions }: Pick<Block, 'transactions'>): readonly Pubkey[] {
  const closed = new Map<string, Pubkey>()
  for (const { failed, keys, preBalances, postBalances } of transactions) {
    if (failed) continue
    for (let i = 0; i < postBalances.length; i++) {
      if (postBalances[i] === 0) {
        if (preBalances[i]! > 0) closed.set(pubkeyMapKey(keys.bytes(i)), keys.bytes(i))
      } else if (preBalances[i] === 0 && closed.size > 0) closed.delete(pubkeyMapKey(keys.bytes(i)))
    }
  }
  // Copies: a key may be a view of a block of megabytes.
  return [...closed.values()].map((key) => new Uint8Array(key))
}
