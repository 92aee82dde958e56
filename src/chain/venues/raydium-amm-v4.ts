import type { Emitter } from '../emitter.ts'
import { fillAmounts, readFill } from '../fill.ts'
import type { Invocation } from '../invocation.ts'
import { pubkey, u16, u64, u8 } from '../codec.ts'
import { LayoutTable, instruction, layout, type InstructionLayout, type Layout } from '../layout.ts'
import { noSelfCall, type Venue } from '../venue.ts'
import { depositedAmounts, emitLiquidity } from './raydium-liquidity.ts'

// Source: raydium-io/raydium-amm, program source. Discriminators are one byte; tokens are classic SPL only.

type SwapAccounts = Readonly<
  Record<'amm' | 'coinVault' | 'pcVault' | 'source' | 'destination' | 'owner', number>
>

/** Returns the positions for 18 accounts, or 17 without target orders; the trader's three are last. */
function orderBookSwapAccounts(count: number): SwapAccounts | null {
  if (count < 17) return null
  const coinVault = count === 17 ? 4 : 5
  return {
    amm: 1,
    coinVault,
    pcVault: coinVault + 1,
    source: count - 3,
    destination: count - 2,
    owner: count - 1
  }
}

const POOL_ONLY_SWAP: SwapAccounts = {
  amm: 1,
  coinVault: 3,
  pcVault: 4,
  source: 5,
  destination: 6,
  owner: 7
}

const SWAP_IN = { amountIn: u64, minimumAmountOut: u64 }
const SWAP_OUT = { maxAmountIn: u64, amountOut: u64 }

const swapBaseIn = instruction('swapBaseIn', '09', SWAP_IN, orderBookSwapAccounts)
const swapBaseOut = instruction('swapBaseOut', '0b', SWAP_OUT, orderBookSwapAccounts)
const swapBaseInV2 = instruction('swapBaseInV2', '10', SWAP_IN, POOL_ONLY_SWAP)
const swapBaseOutV2 = instruction('swapBaseOutV2', '11', SWAP_OUT, POOL_ONLY_SWAP)

type OpeningAccounts = Readonly<
  Record<'amm' | 'coinMint' | 'pcMint' | 'coinVault' | 'pcVault' | 'user', number>
>

export const ammInitialize2 = instruction(
  'initialize2',
  '01',
  { nonce: u8, openTime: u64, initPcAmount: u64, initCoinAmount: u64 },
  (count) => {
    if (count < 19) return null
    // 21 accounts while the rent and associated-token programs were listed, 19 without.
    const lpMint = count >= 21 ? 7 : 6
    return {
      amm: 4,
      lpMint,
      coinMint: lpMint + 1,
      pcMint: lpMint + 2,
      coinVault: lpMint + 3,
      pcVault: lpMint + 4,
      user: count >= 21 ? 17 : 15
    }
  }
)

/** Opened pools until 2022, after `preInitialize` and transfers into the vaults. */
const initialize = instruction(
  'initialize',
  '00',
  { nonce: u8, openTime: u64 },
  { amm: 3, coinMint: 7, pcMint: 8, coinVault: 9, pcVault: 10, user: 17 }
)

type ProviderAccounts = Readonly<Record<'amm' | 'lpMint' | 'coinVault' | 'pcVault' | 'owner', number>>

const WITH_ORDER_BOOK = { amm: 1, lpMint: 5, coinVault: 6, pcVault: 7 }
const POOL_ONLY = { amm: 1, lpMint: 4, coinVault: 5, pcVault: 6, owner: 10 }

const deposit = instruction(
  'deposit',
  '03',
  { maxCoin: u64, maxPc: u64, baseSide: u64 },
  (count): ProviderAccounts | null => {
    if (count >= 14) return { ...WITH_ORDER_BOOK, owner: 12 }
    return count === 11 ? POOL_ONLY : null
  },
  { otherAmountMin: u64 }
)

const withdraw = instruction(
  'withdraw',
  '04',
  { amount: u64 },
  (count): ProviderAccounts | null => {
    // Two accounts of padding before the market, 22 or 23 in all, while pools had a withdraw queue.
    if (count >= 20) return { ...WITH_ORDER_BOOK, owner: count >= 22 ? 18 : 16 }
    return count === 11 ? POOL_ONLY : null
  },
  { minCoin: u64, minPc: u64 }
)

/** Instructions that trade nothing: cranks of the order book, the operator's fees and settings. */
const UPKEEP = [
  instruction('monitorStep', '02', { planOrders: u16, placeOrders: u16, cancelOrders: u16 }, {}),
  instruction('migrateToOpenBook', '05', {}, {}),
  instruction('setParams', '06', { param: u8 }, {}),
  instruction('withdrawPnl', '07', {}, {}),
  instruction('withdrawSrm', '08', { amount: u64 }, {}),
  instruction('preInitialize', '0a', { nonce: u8 }, {}),
  instruction('simulateInfo', '0c', { param: u8 }, {}),
  instruction('adminCancelOrders', '0d', { limit: u16 }, {}),
  instruction('createConfigAccount', '0e', {}, {}),
  instruction('updateConfigAccount', '0f', { param: u8 }, {})
] as const

const SWAPS = [swapBaseIn, swapBaseOut, swapBaseInV2, swapBaseOutV2] as const

/** The `ray_log` of a swap. Both forms have one layout; the last u64 is the side that the trader did not fix. */
export const swapBaseInLog = layout('ray_log swapBaseIn', '03', {
  amountIn: u64,
  minimumOut: u64,
  direction: u64,
  userSource: u64,
  poolCoin: u64,
  poolPc: u64,
  outAmount: u64
})
export const swapBaseOutLog = layout('ray_log swapBaseOut', '04', {
  maxIn: u64,
  amountOut: u64,
  direction: u64,
  userSource: u64,
  poolCoin: u64,
  poolPc: u64,
  deductedIn: u64
})

const OTHER_LOGS = [
  layout('ray_log initialize', '00', {
    time: u64,
    pcDecimals: u8,
    coinDecimals: u8,
    pcLot: u64,
    coinLot: u64,
    pcAmount: u64,
    coinAmount: u64,
    market: pubkey
  }),
  layout('ray_log deposit', '01', {}),
  layout('ray_log withdraw', '02', {})
] as const

export const raydiumAmmV4: Venue = {
  id: 'raydium-amm-v4',
  programs: ['675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8'],
  transport: 'log',
  instructions: new LayoutTable<InstructionLayout>([
    ...SWAPS,
    initialize,
    ammInitialize2,
    deposit,
    withdraw,
    ...UPKEEP
  ]),
  events: new LayoutTable<Layout<unknown>>([swapBaseInLog, swapBaseOutLog, ...OTHER_LOGS]),
  statedEventOffset: noSelfCall,
  decode(call, emit) {
    const swap = SWAPS.find((candidate) => call.is(candidate))
    if (swap !== undefined) decodeSwap(call, emit, swap)
    else if (call.is(deposit)) decodeLiquidity(call, emit, 'add', deposit.accounts(call.accountCount))
    else if (call.is(withdraw)) decodeLiquidity(call, emit, 'remove', withdraw.accounts(call.accountCount))
    else if (call.is(ammInitialize2)) decodeInitialize(call, emit, ammInitialize2.accounts(call.accountCount))
    else if (call.is(initialize)) decodeInitialize(call, emit, initialize.accounts(call.accountCount))
  }
}

function decodeSwap(call: Invocation, emit: Emitter, swap: (typeof SWAPS)[number]): void {
  const accounts = swap.accounts(call.accountCount)
  if (accounts === null) return emit.missing('accounts-unknown', `${call.accountCount} accounts`)
  const source = call.account(accounts.source)
  const destination = call.account(accounts.destination)
  const fill = readFill(call, {
    vaults: [call.account(accounts.coinVault), call.account(accounts.pcVault)],
    source,
    destination
  })
  if (fill.kind === 'none') return emit.missing(fill.reason)
  const logged = loggedAmounts(call)
  if (logged !== null && (logged.in !== fill.inGross || logged.out !== fill.outGross)) {
    emit.disagreement(`ray_log ${logged.in} → ${logged.out}, transfers ${fill.inGross} → ${fill.outGross}`)
  }
  emit.trade({
    pool: call.key(accounts.amm)!,
    user: call.tokens.trader(call.account(accounts.owner), [source, destination]),
    ...fillAmounts(fill),
    exact: swap === swapBaseIn || swap === swapBaseInV2 ? 'in' : 'out'
  })
}

/** Reads a swap's own log line, the second reading. */
function loggedAmounts(call: Invocation): { in: bigint; out: bigint } | null {
  for (const bytes of call.log?.rayLogs ?? []) {
    if (bytes[0] === 3) {
      const log = swapBaseInLog.read(bytes, 1)
      if (log !== null) return { in: log.value.amountIn, out: log.value.outAmount }
    }
    if (bytes[0] === 4) {
      const log = swapBaseOutLog.read(bytes, 1)
      if (log !== null) return { in: log.value.deductedIn, out: log.value.amountOut }
    }
  }
  return null
}

function decodeLiquidity(
  call: Invocation,
  emit: Emitter,
  event: 'add' | 'remove',
  accounts: ProviderAccounts | null
): void {
  if (accounts === null) return emit.missing('accounts-unknown', `${call.accountCount} accounts`)
  emitLiquidity(call, emit, {
    event,
    pool: call.key(accounts.amm)!,
    owner: call.account(accounts.owner),
    vaults: [call.account(accounts.coinVault), call.account(accounts.pcVault)],
    lpMint: call.account(accounts.lpMint),
    position: null
  })
}

/** Emits the creation of a pool. Its first deposit belongs to the creation and is not a separate liquidity event. */
function decodeInitialize(call: Invocation, emit: Emitter, accounts: OpeningAccounts | null): void {
  if (accounts === null) return emit.missing('accounts-unknown', `${call.accountCount} accounts`)
  const moved = depositedAmounts(call, [call.account(accounts.coinVault), call.account(accounts.pcVault)])
  emit.pool({
    pool: call.key(accounts.amm)!,
    user: call.tokens.trader(call.account(accounts.user), []),
    baseMint: call.key(accounts.coinMint)!,
    quoteMint: call.key(accounts.pcMint)!,
    baseVault: call.key(accounts.coinVault),
    quoteVault: call.key(accounts.pcVault),
    initialBase: moved?.[0] || null,
    initialQuote: moved?.[1] || null
  })
}
