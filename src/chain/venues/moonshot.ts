import type { Emitter } from '../emitter.ts'
import type { Fee } from '../events.ts'
import type { Invocation } from '../invocation.ts'
import { LayoutTable } from '../layout.ts'
import { samePubkey, type Pubkey } from '../pubkey.ts'
import { NATIVE_MINT } from '../token-accounts.ts'
import type { Movement } from '../token-movement.ts'
import { noSelfCall, type Venue } from '../venue.ts'
import {
  EVENTS,
  INSTRUCTIONS,
  type TRADE_ACCOUNTS,
  buy,
  migrateFunds,
  migrationEvent,
  sell,
  tokenMint,
  tradeEvent
} from './moonshot-layouts.ts'

// The curve account itself holds the lamports. A buyer's arrive by system transfers; a seller's leave without any
// instruction, so only the logged event states them.

const SOL = 0
const SELL = 1
const EXACT_IN = 0

export const moonshot: Venue = {
  id: 'moonshot',
  programs: ['MoonCVVNZFSYkqNXP6bxHLPL6QQJiMagDL3qcqUQTrG'],
  transport: 'log',
  instructions: new LayoutTable(INSTRUCTIONS),
  events: new LayoutTable(EVENTS),
  statedEventOffset: noSelfCall,
  decode(call, emit) {
    if (call.is(buy)) decodeTrade(call, emit, false)
    else if (call.is(sell)) decodeTrade(call, emit, true)
    else if (call.is(tokenMint)) decodeLaunch(call, emit)
    else if (call.is(migrateFunds)) decodeMigration(call, emit)
    else if (call.layout === undefined) decodeUnnamed(call, emit)
  }
}

/** The amounts of a trade. Collateral is the curve's share, before fees. */
interface Moved {
  readonly isSell: boolean
  readonly tokens: bigint
  readonly collateral: bigint
  readonly collateralMint: Pubkey
  readonly dexFee: bigint
  readonly helioFee: bigint
}

function decodeTrade(call: Invocation, emit: Emitter, isSell: boolean): void {
  const accounts = buy.accounts(call.accountCount)
  if (accounts === null) return emit.missing('accounts-unknown', `${call.accountCount} accounts`)
  const curve = call.key(accounts.curveAccount)!
  const traderAccount = call.account(accounts.senderTokenAccount)
  const curveTokens = call.account(accounts.curveTokenAccount)
  const tokens = sum(call, ({ kind, source, destination }) => {
    return kind === 'transfer' && (isSell ? destination : source) === curveTokens
  })
  const logged = call.loggedEvents(tradeEvent).find(({ value }) => samePubkey(value.curve, curve))?.value
  const paid = isSell ? null : paidLamports(call, accounts)
  let moved: Moved
  if (logged !== undefined) {
    if ((logged.type === SELL) !== isSell) return emit.missing('readings-contradict', 'side')
    if (logged.amount !== tokens) {
      return emit.missing('readings-contradict', `event ${logged.amount} tokens, transfers ${tokens}`)
    }
    moved = {
      ...logged,
      isSell,
      tokens,
      collateral: logged.collateralAmount,
      collateralMint: logged.costToken
    }
    if (paid !== null && samePubkey(logged.costToken, NATIVE_MINT) && paid.collateral !== moved.collateral) {
      const detail = `event ${moved.collateral} lamports, transfers ${paid.collateral}`
      return emit.missing('readings-contradict', detail)
    }
  } else {
    if (paid === null || paid.collateral === 0n) return emit.missing('event-missing')
    if (tokens === 0n) return emit.missing('no-movements')
    moved = { ...paid, isSell, tokens, collateralMint: NATIVE_MINT }
  }
  const user = call.tokens.trader(call.account(accounts.sender), [traderAccount])
  emitTrade(call, emit, { curve, user, mint: call.key(accounts.mint)!, curveTokens, moved })
}

/**
 * Returns the lamports that a buyer paid; null if two receivers are one account, so that the amounts cannot be
 * separated.
 */
function paidLamports(
  call: Invocation,
  accounts: typeof TRADE_ACCOUNTS
): { collateral: bigint; dexFee: bigint; helioFee: bigint } | null {
  const receivers = [accounts.curveAccount, accounts.dexFee, accounts.helioFee].map((at) => call.account(at))
  if (new Set(receivers).size < receivers.length) return null
  const [collateral, dexFee, helioFee] = receivers.map((account) =>
    sum(call, ({ kind, destination }) => kind === 'lamports' && destination === account)
  ) as [bigint, bigint, bigint]
  return { collateral, dexFee, helioFee }
}

function sum(call: Invocation, isPart: (movement: Movement) => boolean): bigint {
  return call.movements.reduce((total, movement) => (isPart(movement) ? total + movement.amount : total), 0n)
}

function emitTrade(
  call: Invocation,
  emit: Emitter,
  /** `curveTokens` is the key index of the curve's token account, -1 if the instruction does not name it. */
  trade: { curve: Pubkey; user: Pubkey; mint: Pubkey; curveTokens: number; moved: Moved }
): void {
  const { isSell, tokens, collateral, collateralMint, dexFee, helioFee } = trade.moved
  const fees: Fee[] = [
    { kind: 'protocol', mint: collateralMint, amount: dexFee },
    { kind: 'platform', mint: collateralMint, amount: helioFee }
  ]
  const args = call.is(buy) || call.is(sell) ? call.args(buy) : null
  const said = {
    pool: trade.curve,
    user: trade.user,
    fees: fees.filter(({ amount }) => amount > 0n),
    exact: args === null ? null : args.value.fixedSide === EXACT_IN ? ('in' as const) : ('out' as const)
  }
  if (isSell) {
    const traderOut = collateral - dexFee - helioFee
    if (traderOut < 0n) return emit.missing('readings-contradict', 'fees above the collateral')
    const legs = { inMint: trade.mint, inAmount: tokens, outMint: collateralMint, outAmount: collateral }
    emit.trade({ ...said, ...legs, traderOut, vaults: [trade.curveTokens, -1] })
  } else {
    const legs = { inMint: collateralMint, inAmount: collateral, outMint: trade.mint, outAmount: tokens }
    const traderIn = collateral + dexFee + helioFee
    emit.trade({ ...said, ...legs, traderIn, vaults: [-1, trade.curveTokens] })
  }
}

/**
 * Decodes an instruction newer than the layouts: the event states the amounts, and the transfer of an equal amount
 * identifies the token.
 */
function decodeUnnamed(call: Invocation, emit: Emitter): void {
  const [event, ...more] = call.loggedEvents(tradeEvent)
  if (event === undefined) return
  const { value } = event
  const transfers = call.movements.filter(
    ({ kind, amount }) => kind === 'transfer' && amount === value.amount
  )
  if (more.length > 0 || transfers.length !== 1) {
    return emit.missing('ambiguous-movements', 'event of an unknown instruction')
  }
  const mint = call.tokens.mintMoved(transfers[0]!)
  if (mint === null) return emit.missing('mint-unknown')
  const moved = {
    ...value,
    isSell: value.type === SELL,
    tokens: value.amount,
    collateral: value.collateralAmount,
    collateralMint: value.costToken
  }
  emitTrade(call, emit, { curve: value.curve, user: value.sender, mint, curveTokens: -1, moved })
}

function decodeLaunch(call: Invocation, emit: Emitter): void {
  const accounts = tokenMint.accounts(call.accountCount)
  const args = call.args(tokenMint)
  if (accounts === null) return emit.missing('accounts-unknown', `${call.accountCount} accounts`)
  if (args === null) return
  const { name, symbol, uri, decimals, collateralCurrency } = args.value
  if (collateralCurrency !== SOL) return emit.missing('mint-unknown', `currency ${collateralCurrency}`)
  const baseMint = call.key(accounts.mint)!
  const creator = call.key(accounts.sender)!
  const curve = call.key(accounts.curveAccount)!
  const curveTokens = call.account(accounts.curveTokenAccount)
  const supply = sum(call, ({ kind, destination }) => kind === 'mint' && destination === curveTokens)
  const origin = { pool: curve, user: call.tokens.trader(call.account(accounts.sender), []) }
  call.tokens.stateDecimals(baseMint, decimals)
  emit.launch({
    ...origin,
    event: 'create',
    baseMint,
    quoteMint: NATIVE_MINT,
    name,
    symbol,
    uri,
    creator,
    decimals,
    supply: supply === 0n ? null : supply,
    curve
  })
  emit.curve({
    ...origin,
    event: 'create',
    baseMint,
    quoteMint: NATIVE_MINT,
    curve,
    progressPct: 0,
    destination: null,
    reserves: supply === 0n ? null : { realBase: supply, realQuote: 0n }
  })
}

/**
 * Emits a migration. The funds go to the migration authority, which opens the pool elsewhere, so the call does not show
 * the destination.
 */
function decodeMigration(call: Invocation, emit: Emitter): void {
  const accounts = migrateFunds.accounts(call.accountCount)
  if (accounts === null) return emit.missing('accounts-unknown', `${call.accountCount} accounts`)
  const logged = call.loggedEvents(migrationEvent)[0]?.value
  const curveTokens = call.account(accounts.curveTokenAccount)
  const leaves = call.movements.some(({ kind, source }) => kind !== 'lamports' && source === curveTokens)
  if (logged === undefined && !leaves) return
  emit.migration({
    pool: call.key(accounts.curveAccount)!,
    user: call.tokens.trader(call.account(accounts.migrationAuthority), []),
    baseMint: call.key(accounts.mint)!,
    quoteMint: NATIVE_MINT,
    destination: null,
    reserves:
      logged === undefined ? null : { realBase: logged.tokensMigrated, realQuote: logged.collateralMigrated }
  })
}
