import type { Emitter } from '../emitter.ts'
import type { Invocation } from '../invocation.ts'
import { LayoutTable, type Layout } from '../layout.ts'
import { samePubkey, type Pubkey } from '../pubkey.ts'
import { NATIVE_MINT } from '../token-accounts.ts'
import { anchorSelfCall, type Venue } from '../venue.ts'
import { pumpEvents, pumpFees, pumpUser, readPumpEvent, transferredTotals } from './pump-reading.ts'
import { curveAccounts, curveByTokens, curveVaults } from './pumpfun-accounts.ts'
import {
  PUMPFUN_EVENTS,
  completeEvent,
  createEvent,
  migrationEvent,
  postCompleteBuyEvent,
  tradeEvent,
  type CompleteBody,
  type CreateBody,
  type MigrationBody,
  type PostCompleteBody,
  type TradeBody
} from './pumpfun-events.ts'
import { unstatedFee } from './pumpfun-fee.ts'
import { EXACT_SIDES, PUMPFUN_INSTRUCTIONS, create, createV2 } from './pumpfun-instructions.ts'
import { curveReserves, isNative, mintOrNative, quoteOf, tradeReserves } from './pumpfun-quote.ts'

/**
 * The bonding curve. A sale pays its lamports without an instruction, so the program's events are the main reading. The
 * amount that the curve's token account sent or received is the second one.
 */
export const pumpfun: Venue = {
  id: 'pumpfun',
  programs: ['6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P'],
  transport: 'self-call-and-log',
  instructions: new LayoutTable(PUMPFUN_INSTRUCTIONS),
  events: new LayoutTable<Layout<unknown>>(PUMPFUN_EVENTS),
  statedEventOffset: anchorSelfCall,
  decode(call, emit) {
    new CurveCall(call, emit).decode()
  }
}

/** Decodes one call of the program, event by event. */
class CurveCall {
  readonly #call: Invocation
  readonly #emit: Emitter
  readonly #trades: { readonly body: TradeBody; readonly innerIndex: number | null }[] = []
  readonly #parts: { readonly body: PostCompleteBody; readonly innerIndex: number | null }[] = []
  #fills = 0

  constructor(call: Invocation, emit: Emitter) {
    this.#call = call
    this.#emit = emit
  }

  decode(): void {
    const steps: (() => void)[] = []
    for (const { bytes, innerIndex } of pumpEvents(this.#call)) {
      switch (pumpfun.events.find(bytes)) {
        case tradeEvent: {
          const body = readPumpEvent(this.#call, tradeEvent, bytes)
          if (body === null) break
          this.#trades.push({ body, innerIndex })
          steps.push(() => this.#trade(body, innerIndex))
          break
        }
        case postCompleteBuyEvent: {
          const body = readPumpEvent(this.#call, postCompleteBuyEvent, bytes)
          if (body === null) break
          this.#parts.push({ body, innerIndex })
          steps.push(() => this.#postCompleteBuy(body, innerIndex))
          break
        }
        case completeEvent: {
          const body = readPumpEvent(this.#call, completeEvent, bytes)
          if (body !== null) steps.push(() => this.#complete(body))
          break
        }
        case createEvent: {
          const body = readPumpEvent(this.#call, createEvent, bytes)
          if (body !== null) steps.push(() => this.#create(body))
          break
        }
        case migrationEvent: {
          const body = readPumpEvent(this.#call, migrationEvent, bytes)
          if (body !== null) steps.push(() => this.#migrate(body))
          break
        }
        default:
      }
    }
    for (const step of steps) step()
    const expected = EXACT_SIDES.has(this.#call.layout) || this.#call.is(create) || this.#call.is(createV2)
    if (expected && steps.length === 0 && this.#call.misfits.size === 0) this.#emit.missing('event-missing')
  }

  #trade(body: TradeBody, innerIndex: number | null): void {
    const { mint, isBuy, tokenAmount } = body
    const quote = quoteOf(body)
    const accounts = curveAccounts(this.#call, mint, quote.mint)
    const curve = accounts.curve ?? curveByTokens(this.#call, body)
    if (curve === null) return this.#emit.missing('accounts-unknown')
    if (this.#contradicts(accounts.baseVault, body)) return
    const fee = body.fee ?? unstatedFee(this.#call, isBuy, quote.amount, accounts.feeRecipient)
    const paid = fee + (body.creatorFee ?? 0n) + (body.cashback ?? 0n)
    if (isBuy && isNative(quote.mint) && this.#isPaidOtherwise(curve, quote.amount, paid)) return
    const amounts = isBuy
      ? { inAmount: quote.amount, traderIn: quote.amount + paid, outAmount: tokenAmount }
      : { inAmount: tokenAmount, outAmount: quote.amount, traderOut: atLeastZero(quote.amount - paid) }
    const place = this.#place(innerIndex)
    if (place === null) return
    this.#emit.trade({
      pool: curve,
      user: pumpUser(this.#call, body.user, accounts.user, accounts.userTokens),
      inMint: isBuy ? quote.mint : mint,
      outMint: isBuy ? mint : quote.mint,
      ...amounts,
      vaults: curveVaults(accounts, quote.mint, isBuy),
      fees: pumpFees(quote.mint, {
        protocol: fee,
        creator: body.creatorFee,
        holderRewards: body.holderRewards,
        cashback: body.cashback
      }),
      reserves: tradeReserves(body, quote),
      exact: this.#exactSide(body),
      ...place
    })
  }

  /** Emits the portion of a completing buy that the future pool fills, at that pool's price. */
  #postCompleteBuy(body: PostCompleteBody, innerIndex: number | null): void {
    const quoteMint = mintOrNative(body.quoteMint)
    const accounts = curveAccounts(this.#call, body.mint, quoteMint)
    const place = this.#place(innerIndex)
    if (place === null) return
    this.#emit.trade({
      pool: body.bondingCurve,
      user: pumpUser(this.#call, body.user, accounts.user, accounts.userTokens),
      inMint: quoteMint,
      outMint: body.mint,
      inAmount: body.quoteIn,
      outAmount: body.baseOut,
      traderIn: body.quoteIn + body.fee + body.creatorFee,
      vaults: curveVaults(accounts, quoteMint, true),
      fees: pumpFees(quoteMint, { protocol: body.fee, creator: body.creatorFee, holderRewards: undefined }),
      reserves: { in: body.poolQuoteReservesAfter, out: body.poolBaseReservesAfter },
      exact: EXACT_SIDES.get(this.#call.layout) ?? null,
      ...place
    })
  }

  #create(body: CreateBody): void {
    const { mint, bondingCurve } = body
    const accounts = curveAccounts(this.#call, mint, NATIVE_MINT)
    const origin = {
      pool: bondingCurve,
      user: pumpUser(this.#call, body.user, accounts.user, []),
      baseMint: mint,
      quoteMint: mintOrNative(body.quoteMint),
      curve: bondingCurve
    }
    this.#emit.launch({
      event: 'create',
      ...origin,
      name: body.name,
      symbol: body.symbol,
      uri: body.uri,
      creator: body.creator ?? body.user,
      decimals: this.#call.tokens.decimalsOf(mint),
      supply: body.tokenTotalSupply ?? this.#minted(mint)
    })
    const native = isNative(origin.quoteMint)
    const virtualQuote = native ? body.virtualSolReserves : body.virtualQuoteReserves
    this.#emit.curve({
      event: 'create',
      ...origin,
      progressPct: 0,
      destination: null,
      reserves:
        body.virtualTokenReserves === undefined || body.realTokenReserves === undefined
          ? null
          : {
              realBase: body.realTokenReserves,
              virtualBase: body.virtualTokenReserves,
              ...(virtualQuote === undefined ? {} : { virtualQuote })
            }
    })
  }

  #complete(body: CompleteBody): void {
    const accounts = curveAccounts(this.#call, body.mint, mintOrNative(body.quoteMint))
    const last = this.#trades.findLast((trade) => samePubkey(trade.body.mint, body.mint))
    this.#emit.curve({
      event: 'complete',
      pool: body.bondingCurve,
      user: pumpUser(this.#call, body.user, accounts.user, accounts.userTokens),
      baseMint: body.mint,
      quoteMint: mintOrNative(body.quoteMint),
      curve: body.bondingCurve,
      progressPct: 100,
      destination: null,
      reserves: last === undefined ? null : curveReserves(last.body)
    })
  }

  #migrate(body: MigrationBody): void {
    const accounts = curveAccounts(this.#call, body.mint, mintOrNative(body.quoteMint))
    this.#emit.migration({
      pool: body.bondingCurve,
      user: pumpUser(this.#call, body.user, accounts.user, []),
      baseMint: body.mint,
      quoteMint: mintOrNative(body.quoteMint),
      destination: body.pool
    })
  }

  /** Returns the identity of the next fill. Returns null, with a note, if a second fill has no instruction of its own. */
  #place(innerIndex: number | null): { innerIxIndex?: number } | null {
    if (this.#fills++ === 0) return {}
    if (innerIndex !== null) return { innerIxIndex: innerIndex }
    this.#emit.missing('nesting-unknown', 'a further trade of one call, stated in its log only')
    return null
  }

  /** Tells whether the curve's token account moved an amount that differs from its coin's events; notes a difference. */
  #contradicts(baseVault: number, { mint, isBuy }: TradeBody): boolean {
    if (baseVault < 0) return false
    const totals = transferredTotals(this.#call, baseVault)
    const moved = isBuy ? totals.out : totals.in
    if (moved === 0n) return false
    let stated = 0n
    for (const { body } of this.#trades) {
      if (body.isBuy === isBuy && samePubkey(body.mint, mint)) stated += body.tokenAmount
    }
    for (const { body } of this.#parts) if (isBuy && samePubkey(body.mint, mint)) stated += body.baseOut
    if (moved === stated) return false
    this.#emit.disagreement(`events ${stated}, transfers ${moved}`)
    this.#emit.missing('readings-contradict', `events ${stated}, transfers ${moved}`)
    return true
  }

  /**
   * Tells whether a lone buy sent lamports to its curve, but neither one transfer nor their sum is the stated amount. Allows
   * for the fees that stay on the curve. Notes a difference. Rent may come in a separate transfer.
   */
  #isPaidOtherwise(curve: Pubkey, stated: bigint, fees: bigint): boolean {
    const { movements, transaction } = this.#call
    if (this.#trades.length + this.#parts.length > 1) return false
    const paid: bigint[] = []
    for (const { kind, destination, amount } of movements) {
      if (kind === 'lamports' && samePubkey(transaction.keys.bytes(destination), curve)) paid.push(amount)
    }
    const total = paid.reduce((sum, amount) => sum + amount, 0n)
    if (paid.length === 0) return false
    if ([...paid, total].some((amount) => amount >= stated && amount <= stated + fees)) return false
    this.#emit.disagreement(`event ${stated} lamports, transfers ${total}`)
    this.#emit.missing('readings-contradict', `event ${stated} lamports, transfers ${total}`)
    return true
  }

  #exactSide({ isBuy, ixName }: TradeBody): 'in' | 'out' | null {
    const known = EXACT_SIDES.get(this.#call.layout)
    if (known !== undefined) return known
    if (!isBuy) return 'in'
    if (ixName === undefined) return null
    return ixName.startsWith('buy_exact') ? 'in' : ixName.startsWith('buy') ? 'out' : null
  }

  #minted(mint: Pubkey): bigint | null {
    let supply: bigint | null = null
    for (const movement of this.#call.movements) {
      const minted = movement.kind === 'mint' ? this.#call.tokens.mintMoved(movement) : null
      if (minted !== null && samePubkey(minted, mint)) supply = (supply ?? 0n) + movement.amount
    }
    return supply
  }
}

/** Returns an amount, or zero if it is negative. Fees round up, so for the smallest sales they can exceed the proceeds. */
function atLeastZero(amount: bigint): bigint {
  return amount > 0n ? amount : 0n
}
