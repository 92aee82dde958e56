import type { Emitter } from '../emitter.ts'
import type { Fee } from '../events.ts'
import { fillAmounts, fillDisagreement, readFill, transferFees, type StatedFill } from '../fill.ts'
import type { Invocation } from '../invocation.ts'
import { LayoutTable, type Layout } from '../layout.ts'
import { samePubkey, type Pubkey } from '../pubkey.ts'
import { noSelfCall, type Venue } from '../venue.ts'
import { EVENTS, poolInitialized, traded } from './orca-whirlpool-events.ts'
import {
  INSTRUCTIONS,
  initializePool,
  initializePoolV2,
  initializePoolWithAdaptiveFee,
  swap,
  swapV2,
  twoHopSwap,
  twoHopSwapV2
} from './orca-whirlpool-instructions.ts'
import { decodePosition } from './orca-whirlpool-liquidity.ts'

const SWAPS = [swap, swapV2] as const
const POOL_CREATIONS = [initializePool, initializePoolV2, initializePoolWithAdaptiveFee] as const

export const orcaWhirlpool: Venue = {
  id: 'orca-whirlpool',
  programs: ['whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc'],
  transport: 'log',
  instructions: new LayoutTable(INSTRUCTIONS),
  events: new LayoutTable(EVENTS),
  statedEventOffset: noSelfCall,
  decode(call, emit) {
    const single = SWAPS.find((candidate) => call.is(candidate))
    const creation = POOL_CREATIONS.find((candidate) => call.is(candidate))
    if (single !== undefined) decodeSwap(call, emit, single)
    else if (call.is(twoHopSwap)) decodeTwoHopSwap(call, emit)
    else if (call.is(twoHopSwapV2)) decodeTwoHopSwapV2(call, emit)
    else if (creation !== undefined) decodeCreation(call, emit, creation)
    else if (call.layout === undefined) decodeUnnamed(call, emit)
    else decodePosition(call, emit)
  }
}

type EventOf<L> = L extends Layout<infer T> ? T : never

/** One pool's leg of a swap, as positions in the account list. */
interface Hop {
  readonly pool: number
  readonly source: number
  readonly inVault: number
  readonly outVault: number
  readonly destination: number
}

interface Trader {
  readonly user: Pubkey
  readonly exact: 'in' | 'out'
}

function decodeSwap(call: Invocation, emit: Emitter, layout: (typeof SWAPS)[number]): void {
  const accounts = layout.accounts(call.accountCount)
  const args = call.args(layout)
  if (accounts === null || args === null) return emit.missing('accounts-unknown')
  const { tokenOwnerAccountA, tokenVaultA, tokenOwnerAccountB, tokenVaultB } = accounts
  const hop = hopOf(
    accounts.whirlpool,
    args.value.aToB,
    [tokenOwnerAccountA, tokenVaultA],
    [tokenOwnerAccountB, tokenVaultB]
  )
  decodeHops(call, emit, [hop], accounts.tokenAuthority, args.value.amountSpecifiedIsInput)
}

/** Decodes two swaps through an account of the trader, or from vault to vault if the transfers show that. */
function decodeTwoHopSwap(call: Invocation, emit: Emitter): void {
  const accounts = twoHopSwap.accounts(call.accountCount)
  const args = call.args(twoHopSwap)
  if (accounts === null || args === null) return emit.missing('accounts-unknown')
  const one = hopOf(
    accounts.whirlpoolOne,
    args.value.aToBOne,
    [accounts.tokenOwnerAccountOneA, accounts.tokenVaultOneA],
    [accounts.tokenOwnerAccountOneB, accounts.tokenVaultOneB]
  )
  const two = hopOf(
    accounts.whirlpoolTwo,
    args.value.aToBTwo,
    [accounts.tokenOwnerAccountTwoA, accounts.tokenVaultTwoA],
    [accounts.tokenOwnerAccountTwoB, accounts.tokenVaultTwoB]
  )
  const isDirect = call.movements.some(
    ({ kind, source, destination }) =>
      kind === 'transfer' &&
      source === call.account(one.outVault) &&
      destination === call.account(two.inVault)
  )
  const hops = isDirect
    ? [
        { ...one, destination: two.inVault },
        { ...two, source: one.outVault }
      ]
    : [one, two]
  decodeHops(call, emit, hops, accounts.tokenAuthority, args.value.amountSpecifiedIsInput)
}

type Side = readonly [ownerAccount: number, vault: number]

function hopOf(pool: number, aToB: boolean, a: Side, b: Side): Hop {
  const [paid, received] = aToB ? [a, b] : [b, a]
  return { pool, source: paid[0], inVault: paid[1], outVault: received[1], destination: received[0] }
}

/** Decodes two swaps from vault to vault: one transfer is the first pool's output and the second's input. */
function decodeTwoHopSwapV2(call: Invocation, emit: Emitter): void {
  const accounts = twoHopSwapV2.accounts(call.accountCount)
  const args = call.args(twoHopSwapV2)
  if (accounts === null || args === null) return emit.missing('accounts-unknown')
  const one = {
    pool: accounts.whirlpoolOne,
    source: accounts.tokenOwnerAccountInput,
    inVault: accounts.tokenVaultOneInput,
    outVault: accounts.tokenVaultOneIntermediate,
    destination: accounts.tokenVaultTwoIntermediate
  }
  const two = {
    pool: accounts.whirlpoolTwo,
    source: accounts.tokenVaultOneIntermediate,
    inVault: accounts.tokenVaultTwoIntermediate,
    outVault: accounts.tokenVaultTwoOutput,
    destination: accounts.tokenOwnerAccountOutput
  }
  decodeHops(call, emit, [one, two], accounts.tokenAuthority, args.value.amountSpecifiedIsInput)
}

function decodeHops(
  call: Invocation,
  emit: Emitter,
  hops: readonly Hop[],
  authority: number,
  isExactIn: boolean
): void {
  const source = call.account(hops[0]!.source)
  const destination = call.account(hops.at(-1)!.destination)
  const user = call.tokens.trader(call.account(authority), [source, destination])
  const trader: Trader = { user, exact: isExactIn ? 'in' : 'out' }
  const vaults = new Set(
    hops.flatMap(({ inVault, outVault }) => [call.account(inVault), call.account(outVault)])
  )
  hops.forEach((hop, index) => decodeHop(call, emit, hop, index === 0, trader, vaults))
}

function decodeHop(
  call: Invocation,
  emit: Emitter,
  hop: Hop,
  isFirst: boolean,
  trader: Trader,
  vaults: ReadonlySet<number>
): void {
  const pool = call.key(hop.pool)!
  const inVault = call.account(hop.inVault)
  const logged = call.loggedEvents(traded).find(({ value }) => samePubkey(value.whirlpool, pool))?.value
  const stated = logged === undefined ? null : statedFill(logged)
  const fill = readFill(call, {
    vaults: [inVault, call.account(hop.outVault)],
    source: call.account(hop.source),
    destination: call.account(hop.destination),
    stated
  })
  if (fill.kind === 'none') return emit.missing(fill.reason)
  if (fill.inVault !== inVault) return emit.missing('readings-contradict', 'direction')
  const difference = stated === null ? null : fillDisagreement(fill, stated)
  if (difference !== null) emit.disagreement(difference)
  emit.trade({
    pool,
    ...trader,
    ...fillAmounts(fill),
    // A transfer from vault to vault neither leaves nor reaches the trader.
    ...(vaults.has(call.account(hop.source)) ? { traderIn: 0n } : {}),
    ...(vaults.has(call.account(hop.destination)) ? { traderOut: 0n } : {}),
    fees: [...(logged === undefined ? [] : tradingFees(logged, fill.inMint)), ...transferFees(fill)],
    ...(isFirst ? {} : { innerIxIndex: fill.inInnerIndex })
  })
}

type Traded = EventOf<typeof traded>

function statedFill({ inputAmount, inputTransferFee, outputAmount, outputTransferFee }: Traded): StatedFill {
  return {
    inGross: inputAmount,
    inNet: inputAmount - inputTransferFee,
    outGross: outputAmount,
    outNet: outputAmount - outputTransferFee
  }
}

function tradingFees({ lpFee, protocolFee }: Traded, mint: Pubkey): Fee[] {
  const fees: Fee[] = [
    { kind: 'lp', mint, amount: lpFee },
    { kind: 'protocol', mint, amount: protocolFee }
  ]
  return fees.filter(({ amount }) => amount > 0n)
}

function decodeCreation(call: Invocation, emit: Emitter, layout: (typeof POOL_CREATIONS)[number]): void {
  const accounts = layout.accounts(call.accountCount)
  if (accounts === null) return emit.missing('accounts-unknown', `${call.accountCount} accounts`)
  emit.pool({
    pool: call.key(accounts.whirlpool)!,
    user: call.tokens.trader(call.account(accounts.funder), []),
    baseMint: call.key(accounts.tokenMintA)!,
    quoteMint: call.key(accounts.tokenMintB)!,
    baseVault: call.key(accounts.tokenVaultA),
    quoteVault: call.key(accounts.tokenVaultB)
  })
}

/** Decodes an instruction newer than the layouts: its events still state the amounts, and its transfers the tokens. */
function decodeUnnamed(call: Invocation, emit: Emitter): void {
  for (const { value } of call.loggedEvents(poolInitialized)) {
    emit.pool({
      pool: value.whirlpool,
      user: call.tokens.trader(-1, []),
      baseMint: value.tokenMintA,
      quoteMint: value.tokenMintB
    })
  }
  call.loggedEvents(traded).forEach(({ value }, index) => {
    const transfers = call.movements.filter(({ kind }) => kind === 'transfer')
    const paid = transfers.filter(({ amount }) => amount === value.inputAmount)
    const received = transfers.filter(({ amount }) => amount === value.outputAmount)
    if (paid.length !== 1 || received.length !== 1 || paid[0] === received[0]) {
      return emit.missing('ambiguous-movements', 'event of an unknown instruction')
    }
    const inMint = call.tokens.mintMoved(paid[0]!)
    const outMint = call.tokens.mintMoved(received[0]!)
    if (inMint === null || outMint === null) return emit.missing('mint-unknown')
    emit.trade({
      pool: value.whirlpool,
      user: call.tokens.trader(paid[0]!.authority, [paid[0]!.source, received[0]!.destination]),
      inMint,
      outMint,
      inAmount: value.inputAmount - value.inputTransferFee,
      outAmount: value.outputAmount,
      traderIn: value.inputAmount,
      traderOut: value.outputAmount - value.outputTransferFee,
      vaults: null,
      ...(index === 0 ? {} : { innerIxIndex: paid[0]!.instruction.innerIndex })
    })
  })
}
