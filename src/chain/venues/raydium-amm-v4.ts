import type { Emitter } from '../emitter.ts'
import { readFill, vaultChange } from '../fill.ts'
import type { Invocation } from '../invocation.ts'
import { LayoutTable, instruction, layout, u64, u8 } from '../layout.ts'
import { noSelfCall, type Venue } from '../venue.ts'

// Source: raydium-io/raydium-amm, program source. Discriminators are one byte; tokens are classic SPL only.

type SwapAccounts = Readonly<
  Record<'amm' | 'coinVault' | 'pcVault' | 'source' | 'destination' | 'owner', number>
>

/** 18 accounts, or 17 where target orders are left out; the trader's three stand last. */
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

const initialize2 = instruction(
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

type LiquidityAccounts = Readonly<Record<'amm' | 'lpMint' | 'coinVault' | 'pcVault' | 'owner', number>>

const deposit = instruction('deposit', '03', { maxCoin: u64, maxPc: u64, baseSide: u64 }, (count) => {
  if (count >= 14)
    return { amm: 1, lpMint: 5, coinVault: 6, pcVault: 7, owner: 12 } satisfies LiquidityAccounts
  return count === 11 ? { amm: 1, lpMint: 4, coinVault: 5, pcVault: 6, owner: 10 } : null
})

const withdraw = instruction('withdraw', '04', { amount: u64 }, (count) => {
  if (count >= 22)
    return { amm: 1, lpMint: 5, coinVault: 6, pcVault: 7, owner: 18 } satisfies LiquidityAccounts
  if (count >= 20) return { amm: 1, lpMint: 5, coinVault: 6, pcVault: 7, owner: 16 }
  return count === 11 ? { amm: 1, lpMint: 4, coinVault: 5, pcVault: 6, owner: 10 } : null
})

const withdrawPnl = instruction('withdrawPnl', '07', {}, {})

const SWAPS = [swapBaseIn, swapBaseOut, swapBaseInV2, swapBaseOutV2] as const

/** `ray_log` of a swap: both forms have the same bytes, the last u64 being the side that the trader did not fix. */
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

export const raydiumAmmV4: Venue = {
  id: 'raydium-amm-v4',
  programs: ['675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8'],
  transport: 'log',
  instructions: new LayoutTable([...SWAPS, initialize2, deposit, withdraw, withdrawPnl]),
  events: new LayoutTable([swapBaseInLog, swapBaseOutLog]),
  statedEventOffset: noSelfCall,
  decode(call, emit) {
    const swap = SWAPS.find((candidate) => call.is(candidate))
    if (swap !== undefined) decodeSwap(call, emit, swap)
    else if (call.is(deposit)) decodeLiquidity(call, emit, 'add')
    else if (call.is(withdraw)) decodeLiquidity(call, emit, 'remove')
    else if (call.is(initialize2)) decodeInitialize(call, emit)
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
    inMint: fill.inMint,
    outMint: fill.outMint,
    inAmount: fill.inNet,
    outAmount: fill.outGross,
    traderIn: fill.inGross,
    traderOut: fill.outNet,
    exact: swap === swapBaseIn || swap === swapBaseInV2 ? 'in' : 'out'
  })
}

/** The second reading: a swap's own log line. */
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

function decodeLiquidity(call: Invocation, emit: Emitter, event: 'add' | 'remove'): void {
  const accounts = (event === 'add' ? deposit : withdraw).accounts(call.accountCount)
  if (accounts === null) return emit.missing('accounts-unknown', `${call.accountCount} accounts`)
  const coinVault = call.account(accounts.coinVault)
  const pcVault = call.account(accounts.pcVault)
  const baseMint = call.tokens.mintOf(coinVault)
  const quoteMint = call.tokens.mintOf(pcVault)
  if (baseMint === null || quoteMint === null) return emit.missing('mint-unknown')
  const coin = vaultChange(call, coinVault)
  const pc = vaultChange(call, pcVault)
  if (coin === null || pc === null) return emit.missing('transfer-fee-unknown')
  const sign = event === 'add' ? 1n : -1n
  const lpMint = call.account(accounts.lpMint)
  const lp = call.movements.find(({ kind, mint }) => (kind === 'mint' || kind === 'burn') && mint === lpMint)
  emit.liquidity({
    event,
    pool: call.key(accounts.amm)!,
    user: call.tokens.trader(call.account(accounts.owner), []),
    baseMint,
    quoteMint,
    baseAmount: coin * sign,
    quoteAmount: pc * sign,
    lpAmount: lp?.amount ?? null,
    position: null
  })
}

function decodeInitialize(call: Invocation, emit: Emitter): void {
  const accounts = initialize2.accounts(call.accountCount)
  if (accounts === null) return emit.missing('accounts-unknown', `${call.accountCount} accounts`)
  emit.pool({
    event: 'create',
    pool: call.key(accounts.amm)!,
    user: call.tokens.trader(call.account(accounts.user), []),
    baseMint: call.key(accounts.coinMint)!,
    quoteMint: call.key(accounts.pcMint)!,
    baseVault: call.key(accounts.coinVault),
    quoteVault: call.key(accounts.pcVault),
    feeBps: null,
    initialBase: vaultChange(call, call.account(accounts.coinVault)),
    initialQuote: vaultChange(call, call.account(accounts.pcVault))
  })
}
