import type { Emitter } from '../emitter.ts'
import { fillAmounts, readFill } from '../fill.ts'
import type { Invocation } from '../invocation.ts'
import { movedSides } from '../liquidity-sides.ts'
import { u64 } from '../codec.ts'
import { LayoutTable, instruction } from '../layout.ts'
import { noSelfCall, type Venue } from '../venue.ts'

// Source: the vendor's published interface of version 1; version 2 has identical first accounts. The program has no
// events, so transfers are the only reading. A swap may also mint pool tokens to the fee account, between or after its
// transfers.

const swap = instruction(
  'swap',
  'f8c69e91e17587c8',
  { amountIn: u64, minimumAmountOut: u64 },
  {
    authority: 0,
    amm: 1,
    userTransferAuthority: 2,
    sourceInfo: 3,
    destinationInfo: 4,
    swapSource: 5,
    swapDestination: 6,
    poolMint: 7,
    feeAccount: 8
  }
)

const depositAllTokenTypes = instruction(
  'depositAllTokenTypes',
  '205f453c4b4fcdee',
  { poolTokenAmount: u64, maximumTokenAAmount: u64, maximumTokenBAmount: u64 },
  { amm: 0, authority: 1, userTransferAuthority: 2, tokenA: 5, tokenB: 6, poolMint: 7 }
)

const withdrawAllTokenTypes = instruction(
  'withdrawAllTokenTypes',
  'bdfe9caed209a4d8',
  { poolTokenAmount: u64, minimumTokenAAmount: u64, minimumTokenBAmount: u64 },
  { amm: 0, authority: 1, userTransferAuthority: 2, tokenA: 4, tokenB: 5, poolMint: 6 }
)

export const lifinity: Venue = {
  id: 'lifinity',
  programs: ['EewxydAPCCVuNEyrVN68PuSYdQ7wKn27V9Gjeoi8dy3S', '2wT8Yq49kHgDzXuPxZSaeLaH1qbmGXtEyPy64bL7aD3c'],
  transport: 'none',
  instructions: new LayoutTable([swap, depositAllTokenTypes, withdrawAllTokenTypes]),
  events: new LayoutTable([]),
  statedEventOffset: noSelfCall,
  decode(call, emit) {
    if (call.is(swap)) decodeSwap(call, emit)
    else if (call.is(depositAllTokenTypes)) decodeLiquidity(call, emit, 'add')
    else if (call.is(withdrawAllTokenTypes)) decodeLiquidity(call, emit, 'remove')
  }
}

function decodeSwap(call: Invocation, emit: Emitter): void {
  const accounts = swap.accounts(call.accountCount)
  if (accounts === null) return emit.missing('accounts-unknown', `${call.accountCount} accounts`)
  const source = call.account(accounts.sourceInfo)
  const destination = call.account(accounts.destinationInfo)
  const vaults = [call.account(accounts.swapSource), call.account(accounts.swapDestination)] as const
  const fill = readFill(call, { vaults, source, destination })
  if (fill.kind === 'none') return emit.missing(fill.reason)
  emit.trade({
    pool: call.key(accounts.amm)!,
    user: call.tokens.trader(call.account(accounts.userTransferAuthority), [source, destination]),
    ...fillAmounts(fill),
    exact: 'in'
  })
}

function decodeLiquidity(call: Invocation, emit: Emitter, event: 'add' | 'remove'): void {
  const accounts = (event === 'add' ? depositAllTokenTypes : withdrawAllTokenTypes).accounts(
    call.accountCount
  )
  if (accounts === null) return emit.missing('accounts-unknown', `${call.accountCount} accounts`)
  const vaultA = call.account(accounts.tokenA)
  const vaultB = call.account(accounts.tokenB)
  const baseMint = call.tokens.mintOf(vaultA)
  const quoteMint = call.tokens.mintOf(vaultB)
  if (baseMint === null || quoteMint === null) return emit.missing('mint-unknown')
  const a = movedSides(call, event, vaultA)
  const b = movedSides(call, event, vaultB)
  if (a.vault === null || b.vault === null) return emit.missing('transfer-fee-unknown')
  if (a.vault < 0n || b.vault < 0n) return emit.missing('readings-contradict', 'direction')
  const poolMint = call.account(accounts.poolMint)
  const poolTokenMove = event === 'add' ? 'mint' : 'burn'
  const lp = call.movements.find(({ kind, mint }) => kind === poolTokenMove && mint === poolMint)
  emit.liquidity({
    event,
    pool: call.key(accounts.amm)!,
    user: call.tokens.trader(call.account(accounts.userTransferAuthority), []),
    baseMint,
    quoteMint,
    baseAmount: a.vault,
    quoteAmount: b.vault,
    traderBase: a.trader,
    traderQuote: b.trader,
    lpAmount: lp?.amount ?? null,
    position: null
  })
}
