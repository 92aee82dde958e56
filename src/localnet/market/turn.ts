import { createHash } from 'node:crypto'
import { samePubkey, type Pubkey } from '../../chain/pubkey.ts'
import { NATIVE_MINT } from '../../chain/token-accounts.ts'
import { executeScript, PacketOverflow, type ExecutedScript } from './execution.ts'
import { LackingFunds, type Ledger } from './ledger.ts'
import type { MarketState } from './market-state.ts'
import type { LookupTable } from './message.ts'
import type { IntendedEvent, IntendedTransaction, TransactionKind } from './oracle.ts'
import { plainCopy } from './plain-copy.ts'
import type { MarketPace } from './pace.ts'
import type { People } from './people.ts'
import type { ReferencePrices } from './prices.ts'
import { COMPUTE_BUDGET } from '../programs.ts'
import { seededRandom } from './random.ts'
import type { TransactionScript } from './script.ts'
import type { LaunchpadVenue, MarketPool, PoolVenue, SeededRandom, VenueWorld } from './venue.ts'

/** The components of a market, identical in every slot. */
export interface MarketParts {
  readonly seed: string
  /** One in this many launched coins graduates. */
  readonly graduateEvery: number
  readonly ledger: Ledger
  readonly state: MarketState
  readonly people: People
  readonly prices: ReferencePrices
  readonly pools: readonly PoolVenue<MarketPool>[]
  readonly launchpads: readonly LaunchpadVenue<MarketPool>[]
}

export interface TransactionPlan {
  readonly kind: TransactionKind
  readonly payer: Pubkey
  /** Pools and curves that the script changes; they are restored if the transaction does not happen. */
  readonly changes?: readonly MarketPool[]
  /** Whether to use version 0 with the market's lookup tables. */
  readonly usesTables?: boolean
  readonly isVote?: boolean
  /** Whether compute-budget instructions come first, as in most transactions. */
  readonly hasBudget?: boolean
}

/** Thrown by a script whose trade has no output; the transaction is then not made. */
export class Refused extends Error {}

/** One slot of the market while it is filled. */
export class MarketTurn {
  readonly parts: MarketParts
  readonly slot: number
  readonly blockTime: number
  readonly pace: MarketPace
  readonly random: SeededRandom
  readonly world: VenueWorld
  readonly executed: ExecutedScript[] = []
  readonly intended: IntendedTransaction[] = []
  readonly #blockhash: Uint8Array
  #attempts = 0

  constructor(
    parts: MarketParts,
    {
      slot,
      blockTime,
      pace
    }: { readonly slot: number; readonly blockTime: number; readonly pace: MarketPace }
  ) {
    this.parts = parts
    this.slot = slot
    this.blockTime = blockTime
    this.pace = pace
    this.random = seededRandom(`${parts.seed}/slot/${slot}`)
    this.world = { ledger: parts.ledger, random: this.random }
    this.#blockhash = new Uint8Array(createHash('sha256').update(`${parts.seed}/${slot}`).digest())
  }

  /**
   * Writes a transaction and its intention. Returns false without any change if the script was refused, the transaction does
   * not fit a packet, or an account lacks funds.
   */
  run(
    plan: TransactionPlan,
    write: (script: TransactionScript, intend: (event: IntendedEvent) => void) => void
  ): boolean {
    const events: IntendedEvent[] = []
    const changes = plan.changes ?? []
    const before = changes.map(plainCopy)
    const restore = (): void => {
      for (const [at, pool] of changes.entries()) Object.assign(pool, before[at])
    }
    const { seed, ledger, state } = this.parts
    const tables: readonly LookupTable[] = plan.usesTables === true ? state.lookup.tables : []
    try {
      const executed = executeScript(
        ledger,
        {
          payer: plan.payer,
          slot: this.slot,
          blockTime: this.blockTime,
          blockhash: this.#blockhash,
          nonce: `${seed}/${this.slot}/${this.#attempts++}`,
          ...(tables.length > 0 && { tables }),
          ...(plan.isVote === true && { isVote: true })
        },
        (script) => {
          if (plan.hasBudget !== false && this.chance(0.8)) this.#askForUnits(script)
          write(script, (event) => events.push(event))
        }
      )
      const { meta, signature } = executed.transaction
      if (meta.err !== null) restore()
      this.executed.push(executed)
      this.intended.push({ signature, kind: plan.kind, events: meta.err === null ? events : [] })
      return true
    } catch (error) {
      restore()
      const isRefused = error instanceof Refused || error instanceof PacketOverflow
      if (isRefused || error instanceof LackingFunds) return false
      throw error
    }
  }

  chance(probability: number): boolean {
    return this.random.next() < probability
  }

  between(low: number, high: number): number {
    return low + (high - low) * this.random.next()
  }

  pick<T>(list: readonly T[]): T {
    const picked = list[Math.floor(this.random.next() * list.length)]
    if (picked === undefined) throw new RangeError('nothing to pick from')
    return picked
  }

  /** Draws a size around a usual one, mostly below it and sometimes far above. */
  size(usual: number): number {
    const gaussian = this.random.next() + this.random.next() + this.random.next() - 1.5
    return usual * Math.exp(2.2 * gaussian)
  }

  /**
   * Puts the paid amount into the trader's account and creates the receiving account. Returns a function that closes
   * temporary accounts of wrapped SOL after the trade.
   */
  prepare(
    script: TransactionScript,
    trader: Pubkey,
    give: { readonly mint: Pubkey; readonly amount: bigint },
    receive: Pubkey
  ): () => void {
    const { ledger } = this.parts
    const wrapped = ledger.tokenAccountOf(trader, NATIVE_MINT)
    const isNew = ledger.data(wrapped) === null
    let isUsed = false
    if (give.amount === 0n) isUsed = false
    else if (samePubkey(give.mint, NATIVE_MINT)) {
      isUsed = true
      if (ledger.tokens(wrapped) < give.amount) script.wrap(trader, give.amount)
    } else if (ledger.tokens(ledger.tokenAccountOf(trader, give.mint)) < give.amount) {
      throw new Refused()
    }
    if (samePubkey(receive, NATIVE_MINT)) isUsed = true
    script.ensureTokenAccount(trader, receive)
    return () => {
      if (isUsed && isNew) script.closeTokenAccount(wrapped, trader, trader)
    }
  }

  #askForUnits(script: TransactionScript): void {
    const limit = new DataView(new ArrayBuffer(5))
    limit.setUint8(0, 2)
    limit.setUint32(1, 100_000 + 10_000 * Math.floor(this.random.next() * 50), true)
    const price = new DataView(new ArrayBuffer(9))
    price.setUint8(0, 3)
    price.setBigUint64(1, BigInt(Math.floor(1_000 * 10 ** (3 * this.random.next()))), true)
    script.call(COMPUTE_BUDGET, [], new Uint8Array(limit.buffer))
    script.call(COMPUTE_BUDGET, [], new Uint8Array(price.buffer))
  }
}
