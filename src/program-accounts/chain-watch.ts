import { distinctPubkeys, pubkeyMapKey, type Pubkey } from '../chain/pubkey.ts'
import type { Block } from '../chain/transaction.ts'
import type { SourcedBlock } from '../node/block-source.ts'
import type { BlockObserver, CommittedBlocks } from '../ingest/committed-blocks.ts'
import type { CommitFeed } from '../kernel/feed/commit-feed.ts'
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

/** Maximum blocks that were read and whose commit was not reported yet: as many as `CommittedBlocks` holds. */
const READ_MAX = 16

/**
 * Reports for each committed block the accounts that it closed, and those that a program may have changed.
 * Subscriptions to a program do not report closed accounts: an account without lamports no longer has an owner.
 * Blocks cost nothing while there is no listener.
 */
export class ChainWatch {
  readonly #feed: Pick<CommitFeed, 'follow' | 'onJump'>
  readonly #blocks: Pick<CommittedBlocks, 'subscribe'>
  readonly #listeners = new Map<ChainListener, Pubkey>()
  readonly #read = new Map<number, Changes>()
  #unsubscribe: readonly (() => void)[] = []

  constructor(feed: Pick<CommitFeed, 'follow' | 'onJump'>, blocks: Pick<CommittedBlocks, 'subscribe'>) {
    this.#feed = feed
    this.#blocks = blocks
  }

  subscribe(program: Pubkey, listener: ChainListener): () => void {
    if (this.#listeners.size === 0) this.#begin()
    this.#listeners.set(listener, program)
    return () => {
      if (!this.#listeners.delete(listener) || this.#listeners.size > 0) return
      for (const each of this.#unsubscribe) each()
      this.#read.clear()
    }
  }

  #begin(): void {
    let newest: number | null = null
    const observer: BlockObserver = {
      read: ({ block }: SourcedBlock) => {
        const programs = distinctPubkeys([...this.#listeners.values()])
        const changes = { closed: closedIn(block), touched: touchedBy(programs, block) }
        return () => {
          if (newest !== null && block.slot <= newest) return this.#missed(`block ${block.slot} came late`)
          this.#read.set(block.slot, changes)
          if (this.#read.size > READ_MAX) this.#read.delete(this.#read.keys().next().value!)
        }
      },
      lacks: () => false,
      recall: () => undefined,
      lost: (afterSlot) => this.#missed(`the blocks after slot ${afterSlot} were on a lost fork`)
    }
    this.#unsubscribe = [
      // The observer comes first: the feed commits a block for it before it calls the follower below.
      this.#blocks.subscribe(observer),
      this.#feed.follow(({ slot: { slot, parentSlot } }) => {
        if (newest !== null && parentSlot !== null && parentSlot > newest)
          this.#missed(`block ${parentSlot} is missing`)
        newest = slot
        const changes = this.#read.get(slot)
        this.#read.delete(slot)
        for (const [listener, program] of this.#listeners) {
          // A program whose subscription began after the block was read starts with a snapshot.
          const touched = changes?.touched.get(pubkeyMapKey(program)) ?? null
          listener.tick({ slot, closed: changes?.closed ?? null, touched })
        }
      }),
      this.#feed.onJump(() => {
        newest = null
        this.#missed('blocks were skipped or have changed')
      })
    ]
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
