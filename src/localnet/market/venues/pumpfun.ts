import type { Pubkey } from '../../../chain/pubkey.ts'
import { NATIVE_MINT } from '../../../chain/token-accounts.ts'
import { programAddress } from '../../../signing/program-address.ts'
import type { CallScript } from '../script.ts'
import type { Executed, LaunchpadVenue, Swap, VenueWorld } from '../venue.ts'
import { exchangeForLamports } from './launchpad.ts'
import type { Caller } from './pool-sides.ts'
import {
  applyTrade,
  CREATOR_BPS,
  FEE_BPS,
  PUMPFUN_FEE_RECIPIENT,
  PUMPFUN_PROGRAM,
  pumpfun,
  quoteBuy,
  quoteSale,
  writeCurve,
  type CurveTrade,
  type PumpfunCurve
} from './pumpfun-curve.ts'
import { graduatePumpfun, launchPumpfun } from './pumpfun-lifecycle.ts'

// Source: pump-fun/pump-public-docs. A sale's lamports leave the curve without any instruction.

const TRADE_ACCOUNTS = 'global feeRecipient* mint curve* vault* userTokens* trader! system'
const buyExactSolIn = pumpfun.instruction(
  'BuyExactSolIn',
  '38fc74089edfcd5f',
  'spendableQuoteIn:u64 minTokensOut:u64',
  `${TRADE_ACCOUNTS} tokenProgram creatorVault* eventAuthority program globalVolume* userVolume* feeConfig
  feeProgram`
)
const sell = pumpfun.instruction(
  'Sell',
  '33e685a4017f83ad',
  'amount:u64 minSolOutput?:u64',
  `${TRADE_ACCOUNTS} creatorVault* tokenProgram eventAuthority program feeConfig feeProgram`
)
const tradeEvent = pumpfun.event(
  'bddb7fd34ee661ee',
  `mint:pubkey solAmount:u64 tokenAmount:u64 isBuy:bool user:pubkey timestamp:i64 virtualSolReserves:u64
  virtualTokenReserves:u64 realSolReserves:u64 realTokenReserves:u64 feeRecipient:pubkey feeBasisPoints:u64
  fee:u64 creator:pubkey creatorFeeBasisPoints:u64 creatorFee:u64 trackVolume:bool totalUnclaimedTokens?:u64
  totalClaimedTokens?:u64 currentSolVolume?:u64 lastUpdateTimestamp?:i64 ixName:string mayhemMode?:bool
  cashbackFeeBasisPoints?:u64 cashback?:u64 buybackFeeBasisPoints?:u64 buybackFee?:u64
  shareholders?:vec<bytes> quoteMint:pubkey quoteAmount:u64 virtualQuoteReserves:u64 realQuoteReserves:u64
  holderRewardsBps?:u64 holderRewards?:u64 creatorFeeUnclaimed?:u64`
)
const completeEvent = pumpfun.event(
  '5f72619cd42e9808',
  'user:pubkey mint:pubkey bondingCurve:pubkey timestamp:i64 quoteMint:pubkey'
)

export const pumpfunCurves = {
  venue: 'pumpfun',
  paidIn: 'lamports',
  launch: launchPumpfun,
  swap,
  price: ({ virtualLamports, virtualTokens }: PumpfunCurve): number =>
    Number(virtualLamports) / Number(virtualTokens),
  mintOf: ({ mint }: PumpfunCurve): Pubkey => mint,
  isComplete: ({ complete }: PumpfunCurve): boolean => complete,
  graduate: graduatePumpfun
} satisfies LaunchpadVenue<PumpfunCurve>

function swap(
  script: Caller,
  curve: PumpfunCurve,
  { trader, isBuy, amountIn }: Swap,
  { ledger }: VenueWorld
): Executed | null {
  const trade = isBuy ? quoteBuy(curve, amountIn) : quoteSale(curve, amountIn)
  if (trade === null) return null
  const { lamports, tokens, fee, creatorFee } = trade
  const { mint } = curve
  const user = { trader, userTokens: ledger.tokenAccountOf(trader, mint), isBuy }
  const addresses = {
    ...curve,
    ...user,
    curve: curve.address,
    tokenProgram: ledger.mint(mint).program,
    userVolume: programAddress(['user_volume_accumulator', trader], PUMPFUN_PROGRAM)
  }
  const body = (call: CallScript): void => {
    exchangeForLamports(call, curve, user, trade, [
      [PUMPFUN_FEE_RECIPIENT, fee],
      [curve.creatorVault, creatorFee]
    ])
    applyTrade(curve, trade, isBuy)
    writeCurve(call, curve)
    emitTrade(call, curve, trade, user)
  }
  if (isBuy) buyExactSolIn.call(script, addresses, { spendableQuoteIn: amountIn, minTokensOut: 1n }, body)
  else sell.call(script, addresses, { amount: amountIn }, body)
  return isBuy
    ? { amountIn: lamports + fee + creatorFee, amountOut: tokens }
    : { amountIn: tokens, amountOut: lamports - fee - creatorFee }
}

function emitTrade(
  call: CallScript,
  curve: PumpfunCurve,
  { lamports, tokens, fee, creatorFee }: CurveTrade,
  { trader, isBuy }: { readonly trader: Pubkey; readonly isBuy: boolean }
): void {
  const shared = {
    mint: curve.mint,
    user: trader,
    timestamp: BigInt(call.blockTime),
    quoteMint: NATIVE_MINT
  }
  tradeEvent.emit(call, {
    ...shared,
    solAmount: lamports,
    tokenAmount: tokens,
    isBuy,
    virtualSolReserves: curve.virtualLamports,
    virtualTokenReserves: curve.virtualTokens,
    realSolReserves: curve.realLamports,
    realTokenReserves: curve.realTokens,
    feeRecipient: PUMPFUN_FEE_RECIPIENT,
    feeBasisPoints: FEE_BPS,
    fee,
    creator: curve.creator,
    creatorFeeBasisPoints: CREATOR_BPS,
    creatorFee,
    trackVolume: isBuy,
    ixName: isBuy ? 'buy_exact_sol_in' : 'sell',
    quoteAmount: lamports,
    virtualQuoteReserves: curve.virtualLamports,
    realQuoteReserves: curve.realLamports
  })
  if (curve.complete) completeEvent.emit(call, { ...shared, bondingCurve: curve.address })
}
