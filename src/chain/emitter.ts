import type {
  ChainEvent,
  CurveChange,
  EventOrigin,
  Fee,
  Launch,
  LiquidityChange,
  PoolChange,
  StatedCurve,
  TradeReserves,
  TradeVaults
} from './events.ts'
import type { Invocation } from './invocation.ts'
import type { Pubkey } from './pubkey.ts'
import type { VenueId } from './venue-id.ts'

/** Reasons why a candidate gives no event. */
export type MissingReason =
  /** The source does not record calls of programs by programs, and the transaction names the venue's program. */
  | 'inner-instructions-absent'
  /** Tokens left a pool's vault without a call of the pool's program that names the vault. */
  | 'vault-moved'
  | 'nesting-unknown'
  | 'no-movements'
  | 'ambiguous-movements'
  | 'mint-unknown'
  | 'decimals-unknown'
  | 'transfer-fee-unknown'
  | 'zero-amount'
  | 'event-missing'
  | 'event-too-short'
  | 'accounts-unknown'
  | 'readings-contradict'

/** A decoder's finding other than an event. Counted per venue, and listed by `millrace decode --explain`. */
export type Note = NoteOrigin &
  (
    | { readonly kind: 'missing'; readonly reason: MissingReason; readonly detail: string }
    | { readonly kind: 'disagreement'; readonly detail: string }
    | { readonly kind: 'drift'; readonly layout: string; readonly bytes: number }
    | { readonly kind: 'unknown-instruction'; readonly discriminator: string }
    | { readonly kind: 'unknown-event'; readonly discriminator: string }
    /** Tokens sent to or taken from a pool without its program; no trade can have moved them. */
    | { readonly kind: 'vault-transfer'; readonly transfer: VaultTransfer; readonly detail: string }
  )

/** `donated`: anybody sent the tokens to a vault. `seized`: an authority of the mint took them. */
export type VaultTransfer = 'donated' | 'seized'

export interface NoteOrigin {
  readonly venue: VenueId
  readonly ixIndex: number
  readonly innerIxIndex: number | null
}

/** The fields of an event that a venue states; the others follow from the call. */
type Said<E extends EventOrigin> = Omit<E, keyof EventOrigin | 'kind'> & {
  readonly pool: Pubkey
  readonly user: Pubkey
  /** Set on the second and later events of one kind that an instruction gives (see EventOrigin). */
  readonly innerIxIndex?: number | null
}

export interface SaidTrade {
  readonly pool: Pubkey
  readonly user: Pubkey
  readonly inMint: Pubkey
  readonly outMint: Pubkey
  readonly inAmount: bigint
  readonly outAmount: bigint
  /**
   * Key indexes of the pool's token accounts that took the input and gave the output, -1 for an account that the
   * instruction does not name. Null for an unknown instruction: the pool does not store accounts found by amounts alone.
   */
  readonly vaults: readonly [inVault: number, outVault: number] | null
  /** The trader's totals; each defaults to the fill's amount. */
  readonly traderIn?: bigint
  readonly traderOut?: bigint
  readonly fees?: readonly Fee[]
  readonly reserves?: TradeReserves | null
  readonly exact?: 'in' | 'out' | null
  readonly statedCurve?: StatedCurve
  readonly innerIxIndex?: number | null
}

/** A created pool. Fields that the venue does not state are left out; they become null. */
type SaidPool = Pick<Said<PoolChange>, 'pool' | 'user' | 'baseMint' | 'quoteMint'> & Partial<Said<PoolChange>>

/** The migration of a curve, which is the pool of the event. */
type SaidMigration = Pick<Said<CurveChange>, 'pool' | 'user' | 'baseMint' | 'quoteMint' | 'destination'> &
  Partial<Pick<CurveChange, 'reserves'>>

const NEW_POOL = {
  event: 'create',
  baseVault: null,
  quoteVault: null,
  feeBps: null,
  initialBase: null,
  initialQuote: null
} as const

type SaidLiquidity = Omit<Said<LiquidityChange>, 'baseDecimals' | 'quoteDecimals'>

/**
 * Collects the events of one venue call at a time. It withholds, with a note, anything that would be a guess
 * (INVARIANTS 2).
 */
export class Emitter {
  readonly events: ChainEvent[] = []
  readonly notes: Note[] = []
  #call: Invocation | null = null

  /** Starts collecting for a call. */
  enter(call: Invocation): void {
    this.#call = call
  }

  trade(said: SaidTrade): void {
    const call = this.#current()
    const inDecimals = call.tokens.decimalsOf(said.inMint)
    const outDecimals = call.tokens.decimalsOf(said.outMint)
    if (said.inAmount <= 0n || said.outAmount <= 0n) return this.missing('zero-amount')
    if (inDecimals === null || outDecimals === null) return this.missing('decimals-unknown')
    const vaults = this.#vaults(said.vaults)
    this.events.push({
      kind: 'trade',
      ...this.#origin(said, [said.inMint, said.outMint]),
      inMint: said.inMint,
      outMint: said.outMint,
      inDecimals,
      outDecimals,
      inAmount: said.inAmount,
      outAmount: said.outAmount,
      traderIn: said.traderIn ?? said.inAmount,
      traderOut: said.traderOut ?? said.outAmount,
      fees: said.fees ?? [],
      reserves: said.reserves ?? null,
      exact: said.exact ?? null,
      ...(said.statedCurve !== undefined && { statedCurve: said.statedCurve }),
      route: null,
      ...(vaults !== null && { vaults })
    })
  }

  liquidity(said: SaidLiquidity): void {
    const { baseMint, quoteMint, baseAmount, quoteAmount } = said
    const { tokens } = this.#current()
    const baseDecimals = baseMint === null ? null : tokens.decimalsOf(baseMint)
    const quoteDecimals = quoteMint === null ? null : tokens.decimalsOf(quoteMint)
    if (baseAmount === 0n && quoteAmount === 0n) return this.missing('zero-amount')
    if (baseAmount < 0n || quoteAmount < 0n) return this.missing('readings-contradict', 'direction')
    if ((baseAmount !== 0n && baseMint === null) || (quoteAmount !== 0n && quoteMint === null)) {
      return this.missing('mint-unknown')
    }
    if ((baseAmount !== 0n && baseDecimals === null) || (quoteAmount !== 0n && quoteDecimals === null)) {
      return this.missing('decimals-unknown')
    }
    this.events.push({
      ...said,
      kind: 'liquidity',
      ...this.#origin(said, [baseMint, quoteMint]),
      baseDecimals,
      quoteDecimals,
      traderBase: amountOrNull(said.traderBase),
      traderQuote: amountOrNull(said.traderQuote)
    })
  }

  launch(said: Said<Launch>): void {
    this.events.push({ ...said, kind: 'launch', ...this.#origin(said, [said.baseMint, said.quoteMint]) })
  }

  curve(said: Said<CurveChange>): void {
    this.events.push({ ...said, kind: 'curve', ...this.#origin(said, [said.baseMint, said.quoteMint]) })
  }

  migration(said: SaidMigration): void {
    this.curve({ reserves: null, ...said, event: 'migrate', curve: said.pool, progressPct: 100 })
  }

  pool(said: SaidPool): void {
    this.events.push({
      ...NEW_POOL,
      ...said,
      kind: 'pool',
      ...this.#origin(said, [said.baseMint, said.quoteMint])
    })
  }

  /** Notes a candidate that gives no event. */
  missing(reason: MissingReason, detail = ''): void {
    this.notes.push({ kind: 'missing', ...this.#noteOrigin(), reason, detail })
  }

  /** Notes two independent readings that differ. */
  disagreement(detail: string): void {
    this.notes.push({ kind: 'disagreement', ...this.#noteOrigin(), detail })
  }

  /** Ends a call: notes bodies that do not fit its layouts, and unknown instructions and events. */
  leave(): void {
    const call = this.#current()
    for (const [layout, bytes] of call.misfits) {
      if (bytes > 0) this.notes.push({ kind: 'drift', ...this.#noteOrigin(), layout, bytes })
      else this.missing('event-too-short', `${layout} in ${-bytes} bytes`)
    }
    if (call.layout === undefined) this.#unknown('unknown-instruction', call.instruction.data)
    for (const { bytes } of call.stated) {
      if (call.venue.events.find(bytes) === undefined) this.#unknown('unknown-event', bytes)
    }
    this.#call = null
  }

  #vaults(said: SaidTrade['vaults']): TradeVaults | null {
    if (said === null) return null
    const { keys } = this.#current().transaction
    const keyOf = (index: number): Pubkey | null => (index < 0 ? null : keys.bytes(index))
    const vaults = { in: keyOf(said[0]), out: keyOf(said[1]) }
    return vaults.in === null && vaults.out === null ? null : vaults
  }

  #unknown(kind: 'unknown-instruction' | 'unknown-event', bytes: Uint8Array): void {
    this.notes.push({ kind, ...this.#noteOrigin(), discriminator: bytes.subarray(0, 8).toHex() })
  }

  #current(): Invocation {
    if (this.#call === null) throw new Error('no call entered')
    return this.#call
  }

  #origin(
    said: { pool: Pubkey; user: Pubkey; innerIxIndex?: number | null },
    mints: readonly (Pubkey | null)[]
  ): EventOrigin {
    const call = this.#current()
    return {
      venue: call.venue.id,
      program: call.program,
      pool: said.pool,
      ixIndex: call.instruction.outerIndex,
      innerIxIndex: said.innerIxIndex === undefined ? call.instruction.innerIndex : said.innerIxIndex,
      user: this.#holder(said.user, mints) ?? said.user
    }
  }

  /**
   * Returns the signer whose funds another program's signature moved; null if the user signed or no signer's balance
   * changed. The authority of an outer instruction has always signed.
   */
  #holder(user: Pubkey, mints: readonly (Pubkey | null)[]): Pubkey | null {
    const { tokens, instruction } = this.#current()
    if (instruction.innerIndex === null || tokens.isSigner(user)) return null
    return tokens.heldBySigner(mints.filter((mint) => mint !== null))
  }

  #noteOrigin(): NoteOrigin {
    const { venue, instruction } = this.#current()
    return { venue: venue.id, ixIndex: instruction.outerIndex, innerIxIndex: instruction.innerIndex }
  }
}

/** Returns null for a negative amount, which results from a fee above the amount from which it was taken. */
function amountOrNull(amount: bigint | null): bigint | null {
  return amount !== null && amount < 0n ? null : amount
}
