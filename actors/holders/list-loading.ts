import { nodeBalances, type NodeBalances } from '../../src/holders/node-balances.ts'
import { balancesAfter, type ChangesAt } from '../../src/holders/loaded-list.ts'
import { wholeList } from '../../src/holders/list-rows.ts'
import type { HolderMint } from '../../src/holders/holder-mint.ts'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import { NodeError } from '../../src/node/node-fault.ts'
import { sleep } from '../../src/ports.ts'
import type { HolderDeps } from './holder-deps.ts'
import { WRITE_ROWS, writeRows } from './list-store.ts'

/** Pause between requests to a node that is behind, in milliseconds, and the maximum number of requests. */
const BEHIND_MS = 1_000
const BEHIND_TRIES = 60
/** Interval of progress reports, in milliseconds. */
const REPORT_MS = 1_000
/** Maximum changed accounts that wait for a list that is being read; above it the list is read again. */
const COLLECTED_MAX = 200_000

/** A list whose accounts cannot be read for now, in words for clients and the operator. */
export class LoadingFault extends Error {
  /** Whether the fault lasts: a retry within seconds does not help. */
  readonly isLasting: boolean

  constructor(message: string, isLasting: boolean) {
    super(message)
    this.isLasting = isLasting
  }
}

/** A list that is stored up to a slot, and waits for the blocks after it. */
export interface LoadedList {
  readonly reading: number
  readonly fromSlot: number
  readonly accounts: number
}

/** The services that a reading takes from its follower. */
export interface LoadingSteps {
  /** Resolves with the slot of the newest collected block once all blocks up to `slot` are collected. */
  readonly reach: (slot: number) => Promise<number>
  /**
   * Called with the number of accounts before they are stored. Resolves with the number of the reading under which they are
   * stored. Rejects with LoadingFault if they have no room.
   */
  readonly found: (accounts: number) => Promise<number>
  /** Receives from time to time the number of stored accounts. */
  readonly stored: (accounts: number) => Promise<void>
}

/** One reading of a mint's accounts from the node, with the blocks that come meanwhile. */
export class ListLoading {
  readonly end = new AbortController()
  readonly #deps: HolderDeps
  readonly #mint: Pubkey
  readonly #about: HolderMint
  readonly #reading: number
  /** The newest slot whose block may not have been collected. */
  readonly since: number
  #collected: ChangesAt[] = []
  #size = 0
  /** The loaded list; null until its rows are stored. */
  loaded: LoadedList | null = null

  constructor(deps: HolderDeps, mint: Pubkey, about: HolderMint, reading: number, since: number) {
    this.#deps = deps
    this.#mint = mint
    this.#about = about
    this.#reading = reading
    this.since = since
  }

  /** Takes the changes of a committed block. */
  collect(block: ChangesAt): void {
    this.#collected.push(block)
    this.#size += block.changes.accounts.size
    if (this.#size > COLLECTED_MAX)
      this.end.abort(new LoadingFault('too many accounts changed while they were read', false))
  }

  /** Removes the blocks that were collected. */
  takeCollected(): readonly ChangesAt[] {
    const blocks = this.#collected
    this.#collected = []
    return blocks
  }

  /**
   * Reads the accounts and stores the list. Rejects with LoadingFault, the node's or the store's error, or the reason of
   * `end`.
   */
  async run({ reach, found: readingOf, stored }: LoadingSteps): Promise<void> {
    const { signal } = this.end
    const { storage, clock } = this.#deps
    // An earlier try may have left rows.
    await storage.holders.clear({ mint: this.#mint, reading: this.#reading })
    const found = await this.#read()
    const fromSlot = await reach(found.newestSlot)
    signal.throwIfAborted()
    const balances = balancesAfter(found, this.takeCollected())
    const reading = await readingOf(balances.size)
    const list = { mint: this.#mint, reading }
    signal.throwIfAborted()
    let reportedAtMs = clock.now()
    let count = 0
    for (const rows of wholeList(balances.values(), fromSlot, WRITE_ROWS)) {
      await writeRows(storage.holders, list, rows)
      count += rows.filter(({ kind }) => kind === 'account').length
      if (clock.now() - reportedAtMs >= REPORT_MS) {
        reportedAtMs = clock.now()
        await stored(count)
      }
      signal.throwIfAborted()
      await sleep(clock, 0, signal)
    }
    this.loaded = { reading, fromSlot, accounts: balances.size }
  }

  /** Reads the accounts, at slots that are not before the collected blocks. */
  async #read(): Promise<NodeBalances> {
    const { node, clock } = this.#deps
    const { signal } = this.end
    for (let tries = 0; ; tries++) {
      signal.throwIfAborted()
      const found = await nodeBalances(node, this.#mint, this.#about.tokenProgram, signal).catch(
        (error: unknown) => {
          if (error instanceof NodeError && error.fault.kind === 'too-large')
            throw new LoadingFault('it has more accounts than a node lists in one answer', true)
          throw error
        }
      )
      if (found.oldestSlot >= this.since) return found
      if (tries === BEHIND_TRIES)
        throw new LoadingFault(`the node is at slot ${found.oldestSlot}, behind slot ${this.since}`, false)
      await sleep(clock, BEHIND_MS, signal)
    }
  }
}
