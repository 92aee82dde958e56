import type { Emitter } from '../emitter.ts'
import type { Invocation } from '../invocation.ts'
import { movedSides, type Sides } from '../liquidity-sides.ts'
import type { Pubkey } from '../pubkey.ts'
import { liquidityDecreased, liquidityIncreased } from './orca-whirlpool-events.ts'
import {
  decreaseLiquidity,
  decreaseLiquidityV2,
  increaseLiquidity,
  increaseLiquidityByTokenAmountsV2,
  increaseLiquidityV2,
  repositionLiquidityV2
} from './orca-whirlpool-instructions.ts'

const INCREASES = [increaseLiquidity, increaseLiquidityV2, increaseLiquidityByTokenAmountsV2] as const
const DECREASES = [decreaseLiquidity, decreaseLiquidityV2] as const

/** Emits the changes of a position's liquidity; emits nothing for a call of any other instruction. */
export function decodePosition(call: Invocation, emit: Emitter): void {
  const increase = INCREASES.find((candidate) => call.is(candidate))
  const decrease = DECREASES.find((candidate) => call.is(candidate))
  if (increase !== undefined) decodeLiquidity(call, emit, increase, 'add')
  else if (decrease !== undefined) decodeLiquidity(call, emit, decrease, 'remove')
  else if (call.is(repositionLiquidityV2)) decodeReposition(call, emit)
}

type LiquidityLayout = (typeof INCREASES | typeof DECREASES)[number] | typeof repositionLiquidityV2

interface LiquidityAccounts {
  readonly whirlpool: number
  readonly positionAuthority: number
  readonly position: number
  readonly tokenOwnerAccountA: number
  readonly tokenOwnerAccountB: number
  readonly tokenVaultA: number
  readonly tokenVaultB: number
  /** Absent in the first versions, which do not name the mints. */
  readonly tokenMintA?: number
  readonly tokenMintB?: number
}

interface PositionChange {
  readonly pool: Pubkey
  readonly user: Pubkey
  readonly baseMint: Pubkey
  readonly quoteMint: Pubkey
  readonly position: Pubkey
  readonly vaults: readonly [number, number]
  /** Net amounts in base units that moved into the two vaults; negative for those that left them. */
  readonly base: KnownSides
  readonly quote: KnownSides
}

/** Sides with a known vault amount. */
interface KnownSides extends Sides {
  readonly vault: bigint
}

function readPositionChange(
  call: Invocation,
  emit: Emitter,
  layout: LiquidityLayout
): PositionChange | undefined {
  const accounts: LiquidityAccounts | null = layout.accounts(call.accountCount)
  if (accounts === null) return void emit.missing('accounts-unknown', `${call.accountCount} accounts`)
  const { tokenMintA = -1, tokenMintB = -1 } = accounts
  const vaults = [call.account(accounts.tokenVaultA), call.account(accounts.tokenVaultB)] as const
  const baseMint = call.key(tokenMintA) ?? call.tokens.mintOf(vaults[0])
  const quoteMint = call.key(tokenMintB) ?? call.tokens.mintOf(vaults[1])
  if (baseMint === null || quoteMint === null) return void emit.missing('mint-unknown')
  const base = movedSides(call, 'add', vaults[0])
  const quote = movedSides(call, 'add', vaults[1])
  if (!isKnown(base) || !isKnown(quote)) return void emit.missing('transfer-fee-unknown')
  const ownerAccounts = [call.account(accounts.tokenOwnerAccountA), call.account(accounts.tokenOwnerAccountB)]
  return {
    pool: call.key(accounts.whirlpool)!,
    user: call.tokens.trader(call.account(accounts.positionAuthority), ownerAccounts),
    baseMint,
    quoteMint,
    position: call.key(accounts.position)!,
    vaults,
    base,
    quote
  }
}

const isKnown = (sides: Sides): sides is KnownSides => sides.vault !== null
const isOut = ({ vault }: KnownSides): boolean => vault < 0n

/** Returns the amounts of an event in one direction; an amount that moved the other way counts as zero. */
function amountsOf(event: 'add' | 'remove', base: KnownSides, quote: KnownSides) {
  const [baseSides, quoteSides] = [base, quote].map((sides): KnownSides => {
    if (sides.vault === 0n || isOut(sides) !== (event === 'remove')) return { vault: 0n, trader: 0n }
    const { vault, trader } = sides
    return event === 'add' ? sides : { vault: -vault, trader: trader === null ? null : -trader }
  })
  return {
    baseAmount: baseSides!.vault,
    quoteAmount: quoteSides!.vault,
    traderBase: baseSides!.trader,
    traderQuote: quoteSides!.trader
  }
}

function decodeLiquidity(
  call: Invocation,
  emit: Emitter,
  layout: LiquidityLayout,
  event: 'add' | 'remove'
): void {
  const change = readPositionChange(call, emit, layout)
  if (change === undefined) return
  const { vaults, base, quote, ...said } = change
  if ([base, quote].some((sides) => sides.vault !== 0n && isOut(sides) !== (event === 'remove'))) {
    return emit.missing('readings-contradict', 'direction')
  }
  const amounts = amountsOf(event, base, quote)
  const { baseAmount, quoteAmount } = amounts
  const logged = call.loggedEvents(event === 'add' ? liquidityIncreased : liquidityDecreased)[0]?.value
  if (logged !== undefined) {
    const { tokenAAmount, tokenATransferFee, tokenBAmount, tokenBTransferFee } = logged
    if (
      !agrees(baseAmount, tokenAAmount, tokenATransferFee) ||
      !agrees(quoteAmount, tokenBAmount, tokenBTransferFee)
    ) {
      const event = `${tokenAAmount}, ${tokenBAmount}`
      emit.disagreement(`event ${event}, transfers ${baseAmount}, ${quoteAmount}`)
    }
  }
  emit.liquidity({ ...said, event, ...amounts, lpAmount: null })
}

/** Tells whether a vault's change is a stated amount, with or without the transfer fee on top. */
function agrees(change: bigint, amount: bigint, transferFee: bigint): boolean {
  return change === amount || change === amount - transferFee
}

/**
 * Emits a reposition. The pool pays or takes the difference between both ranges: a removal for tokens that left it,
 * an add for tokens that came.
 */
function decodeReposition(call: Invocation, emit: Emitter): void {
  const change = readPositionChange(call, emit, repositionLiquidityV2)
  if (change === undefined) return
  const { vaults, base, quote, ...said } = change
  const removes = isOut(base) || isOut(quote)
  if (removes)
    emit.liquidity({ ...said, event: 'remove', ...amountsOf('remove', base, quote), lpAmount: null })
  if (base.vault <= 0n && quote.vault <= 0n) return
  const paidIn = call.movements.find(({ destination }) => vaults.includes(destination))
  emit.liquidity({
    ...said,
    event: 'add',
    ...amountsOf('add', base, quote),
    lpAmount: null,
    ...(removes && paidIn !== undefined ? { innerIxIndex: paidIn.instruction.innerIndex } : {})
  })
}
