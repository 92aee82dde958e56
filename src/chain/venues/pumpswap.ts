import type { Emitter } from '../emitter.ts'
import type { TradeReserves } from '../events.ts'
import { contradictsBalance, vaultChange } from '../fill.ts'
import type { Invocation } from '../invocation.ts'
import { movedSides, settleSides, sidesText, type Sides } from '../liquidity-sides.ts'
import { LayoutTable, type Layout } from '../layout.ts'
import { samePubkey, type Pubkey } from '../pubkey.ts'
import { soleTransfer } from '../sole-transfer.ts'
import { anchorSelfCall, type Venue } from '../venue.ts'
import { pumpEvents, pumpFees, pumpUser, readPumpEvent, transferredTotals } from './pump-reading.ts'
import { poolAccounts, type Parties, type PoolAccounts } from './pumpswap-accounts.ts'
import {
  PUMPSWAP_EVENTS,
  buyEvent,
  createPoolEvent,
  depositEvent,
  sellEvent,
  withdrawEvent,
  type CreatePoolBody,
  type DepositBody,
  type WithdrawBody
} from './pumpswap-events.ts'
import {
  EXACT_SIDES,
  PUMPSWAP_INSTRUCTIONS,
  boostBuyAndBurn,
  createPool,
  deposit,
  withdraw
} from './pumpswap-instructions.ts'
import { bought, sold, type Swap } from './pumpswap-swap.ts'

/**
 * Pools of graduated coins, and any others. The program's events are the main reading, and the base vault's transfers
 * the second one. "Buy" is relative to the base, which may be wrapped SOL.
 */
export const pumpswap: Venue = {
  id: 'pumpswap',
  programs: ['pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA'],
  transport: 'self-call-and-log',
  instructions: new LayoutTable(PUMPSWAP_INSTRUCTIONS),
  events: new LayoutTable<Layout<unknown>>(PUMPSWAP_EVENTS),
  statedEventOffset: anchorSelfCall,
  decode(call, emit) {
    if (!call.is(boostBuyAndBurn)) new PoolCall(call, emit).decode()
  }
}

/** Decodes one call of the program, event by event. */
class PoolCall {
  readonly #call: Invocation
  readonly #emit: Emitter
  readonly #swaps: Swap[] = []
  #fills = 0

  constructor(call: Invocation, emit: Emitter) {
    this.#call = call
    this.#emit = emit
  }

  decode(): void {
    const call = this.#call
    const steps: (() => void)[] = []
    const swap = (said: Swap): void => {
      this.#swaps.push(said)
      steps.push(() => this.#swap(said))
    }
    for (const { bytes, innerIndex } of pumpEvents(call)) {
      switch (pumpswap.events.find(bytes)) {
        case buyEvent: {
          const body = readPumpEvent(call, buyEvent, bytes)
          if (body !== null) swap(bought(body, innerIndex))
          break
        }
        case sellEvent: {
          const body = readPumpEvent(call, sellEvent, bytes)
          if (body !== null) swap(sold(body, innerIndex))
          break
        }
        case depositEvent: {
          const body = readPumpEvent(call, depositEvent, bytes)
          if (body !== null) steps.push(() => this.#deposit(body))
          break
        }
        case withdrawEvent: {
          const body = readPumpEvent(call, withdrawEvent, bytes)
          if (body !== null) steps.push(() => this.#withdraw(body))
          break
        }
        case createPoolEvent: {
          const body = readPumpEvent(call, createPoolEvent, bytes)
          if (body !== null) steps.push(() => this.#createPool(body))
          break
        }
        default:
      }
    }
    for (const step of steps) step()
    if (steps.length === 0 && call.misfits.size === 0 && this.#expectsEvent()) {
      this.#emit.missing('event-missing')
    }
  }

  /**
   * Tells whether the call should state an event. A multi-hop route with curves only states its events in the curve
   * program's call.
   */
  #expectsEvent(): boolean {
    const call = this.#call
    if (call.is(deposit) || call.is(withdraw) || call.is(createPool)) return true
    return EXACT_SIDES.has(call.layout) && !call.nested.some((nested) => nested.venue.id === 'pumpfun')
  }

  #swap(swap: Swap): void {
    const { isBuy, body, base, quote, userQuote } = swap
    const accounts = poolAccounts(this.#call, body)
    if (accounts.baseMint === null || accounts.quoteMint === null) return this.#emit.missing('mint-unknown')
    const { baseMint, quoteMint, baseVault, quoteVault } = accounts
    const moved = baseVault < 0 ? 0n : transferredTotals(this.#call, baseVault)[isBuy ? 'out' : 'in']
    const stated = this.#statedBase(swap)
    if (moved !== 0n && moved !== stated) {
      this.#emit.disagreement(`events ${stated}, transfers ${moved}`)
      return this.#emit.missing('readings-contradict', `events ${stated}, transfers ${moved}`)
    }
    if (this.#contradictsQuote(accounts, swap)) return
    if (this.#fills++ > 0 && swap.innerIndex === null) {
      return this.#emit.missing('nesting-unknown', 'a further trade of one call, stated in its log only')
    }
    this.#emit.trade({
      pool: body.pool,
      user: this.#user(body, 1),
      ...(isBuy
        ? {
            inMint: quoteMint,
            outMint: baseMint,
            inAmount: quote,
            outAmount: base,
            traderIn: userQuote,
            traderOut: this.#received(accounts, base)
          }
        : { inMint: baseMint, outMint: quoteMint, inAmount: base, outAmount: quote, traderOut: userQuote }),
      vaults: isBuy ? [quoteVault, baseVault] : [baseVault, quoteVault],
      fees: pumpFees(quoteMint, {
        lp: body.lpFee,
        protocol: body.protocolFee,
        creator: body.coinCreatorFee,
        holderRewards: body.holderRewards,
        cashback: body.cashback
      }),
      reserves: moved === 0n ? null : this.#reservesAfter(accounts, swap),
      exact: this.#exactSide(swap),
      ...(this.#fills > 1 ? { innerIxIndex: swap.innerIndex } : {})
    })
  }

  /**
   * Tells whether a lone trade moved a quote amount that differs from the stated one, and the vault's balances do not
   * contradict the transfers; notes a difference. Allows for the fees, which may or may not pass through the vault.
   */
  #contradictsQuote({ quoteVault }: PoolAccounts, { isBuy, quote, body }: Swap): boolean {
    if (quoteVault < 0 || this.#swaps.length > 1) return false
    const moved = transferredTotals(this.#call, quoteVault)[isBuy ? 'in' : 'out']
    const kept = isBuy ? moved - quote : quote - moved
    const fees = body.protocolFee + (body.coinCreatorFee ?? 0n) + (body.cashback ?? 0n)
    if (moved === 0n || (kept >= 0n && kept <= fees)) return false
    if (contradictsBalance(this.#call, quoteVault)) return false
    this.#emit.disagreement(`event ${quote} of the quote, transfers ${moved}`)
    this.#emit.missing('readings-contradict', `event ${quote} of the quote, transfers ${moved}`)
    return true
  }

  /** Sums the base amounts of all events of a pool and direction, to compare with the sum of the vault's transfers. */
  #statedBase({ isBuy, body }: Pick<Swap, 'isBuy' | 'body'>): bigint {
    let stated = 0n
    for (const other of this.#swaps) {
      if (other.isBuy === isBuy && samePubkey(other.body.pool, body.pool)) stated += other.base
    }
    return stated
  }

  /** Returns the base amount credited to the buyer: less than was sent if the mint charges a transfer fee. */
  #received({ baseVault, userBase }: PoolAccounts, base: bigint): bigint {
    for (const movement of this.#call.movements) {
      if (movement.kind !== 'transfer' || movement.source !== baseVault) continue
      if (movement.destination === userBase && movement.amount === base) {
        return this.#call.tokens.credited(movement) ?? base
      }
    }
    return base
  }

  /**
   * Returns the vaults' balances after the trade: the stated balances before it plus the amounts that the call moved.
   * Null if the transaction does not show the quote vault's change, or the pool traded twice in the call.
   */
  #reservesAfter(accounts: PoolAccounts, { isBuy, body, base }: Swap): TradeReserves | null {
    const { baseVault, quoteVault } = accounts
    if (quoteVault < 0 || this.#statedBase({ isBuy, body }) !== base) return null
    const totals = transferredTotals(this.#call, quoteVault)
    const baseChange = vaultChange(this.#call, baseVault)
    const quoteChange = vaultChange(this.#call, quoteVault)
    if ((isBuy ? totals.in : totals.out) === 0n || baseChange === null || quoteChange === null) return null
    const baseAfter = body.poolBaseTokenReserves + baseChange
    const quoteAfter = body.poolQuoteTokenReserves + quoteChange
    if (baseAfter < 0n || quoteAfter < 0n) return null
    return isBuy ? { in: quoteAfter, out: baseAfter } : { in: baseAfter, out: quoteAfter }
  }

  #exactSide({ isBuy, body }: Swap): 'in' | 'out' | null {
    const known = EXACT_SIDES.get(this.#call.layout)
    if (known !== undefined) return known
    if (!isBuy) return 'in'
    const ixName = 'ixName' in body ? body.ixName : undefined
    if (ixName === undefined) return null
    return ixName.startsWith('buy_exact') ? 'in' : ixName.startsWith('buy') ? 'out' : null
  }

  #deposit(body: DepositBody): void {
    this.#liquidity('add', body, body.baseAmountIn, body.quoteAmountIn, body.lpTokenAmountOut)
  }

  #withdraw(body: WithdrawBody): void {
    this.#liquidity('remove', body, body.baseAmountOut, body.quoteAmountOut, body.lpTokenAmountIn)
  }

  #liquidity(
    event: 'add' | 'remove',
    body: DepositBody | WithdrawBody,
    baseAmount: bigint,
    quoteAmount: bigint,
    lpAmount: bigint
  ): void {
    const { baseMint, quoteMint, baseVault, quoteVault } = poolAccounts(this.#call, body)
    if (baseMint === null || quoteMint === null) return this.#emit.missing('mint-unknown')
    const base = this.#sides(event, baseVault, baseAmount)
    const quote = this.#sides(event, quoteVault, quoteAmount)
    if (base.vault === null || quote.vault === null) return this.#emit.missing('transfer-fee-unknown')
    this.#emit.liquidity({
      event,
      pool: body.pool,
      user: this.#user(body, 2),
      baseMint,
      quoteMint,
      baseAmount: base.vault,
      quoteAmount: quote.vault,
      traderBase: base.trader,
      traderQuote: quote.trader,
      lpAmount,
      position: null
    })
  }

  /**
   * Returns the sides of a liquidity change. The event states the sent amount: before a transfer fee in both
   * directions.
   */
  #sides(event: 'add' | 'remove', vault: number, sent: bigint): Sides {
    const stated = event === 'add' ? { vault: null, trader: sent } : { vault: sent, trader: null }
    const moved = vault < 0 ? this.#transferOf(event, sent) : movedSides(this.#call, event, vault)
    const sides = settleSides(stated, moved)
    if (!sides.agrees) this.#emit.disagreement(`event ${sent}, transfers ${sidesText(moved)}`)
    return sides
  }

  /** Returns the sides of the only transfer of an amount, for an unknown instruction that names no vaults. */
  #transferOf(event: 'add' | 'remove', sent: bigint): Sides {
    const transfer = soleTransfer(this.#call, sent)
    const credited = transfer === null ? null : this.#call.tokens.credited(transfer)
    return event === 'add' ? { vault: credited, trader: sent } : { vault: sent, trader: credited }
  }

  #createPool(body: CreatePoolBody): void {
    const call = this.#call
    call.tokens.stateDecimals(body.baseMint, body.baseMintDecimals)
    call.tokens.stateDecimals(body.quoteMint, body.quoteMintDecimals)
    const accounts = call.is(createPool) ? createPool.accounts(call.accountCount) : null
    this.#emit.pool({
      pool: body.pool,
      user: pumpUser(call, body.creator, accounts?.creator ?? -1, []),
      baseMint: body.baseMint,
      quoteMint: body.quoteMint,
      baseVault: accounts === null ? null : call.key(accounts.baseVault),
      quoteVault: accounts === null ? null : call.key(accounts.quoteVault),
      initialBase: body.poolBaseAmount,
      initialQuote: body.poolQuoteAmount
    })
  }

  #user(body: Parties, named: number): Pubkey {
    const call = this.#call
    // The user of an outer call signed it, so no account needs to be searched.
    if (call.instruction.innerIndex === null) return body.user
    const tokens = [call.indexOf(body.userBaseTokenAccount), call.indexOf(body.userQuoteTokenAccount)]
    return pumpUser(call, body.user, named, tokens)
  }
}
