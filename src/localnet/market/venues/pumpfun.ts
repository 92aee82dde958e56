import type { Pubkey } from '../../../chain/pubkey.ts'
import { NATIVE_MINT } from '../../../chain/token-accounts.ts'
import { completeEvent, tradeEvent } from '../../../chain/venues/pumpfun-events.ts'
import { buyExactSolIn, sell } from '../../../chain/venues/pumpfun-instructions.ts'
import { programAddress } from '../program-address.ts'
import { SYSTEM } from '../../programs.ts'
import type { AccountUse, CallScript, LedgerView } from '../script.ts'
import type { Executed, LaunchpadVenue, Swap, VenueWorld } from '../venue.ts'
import { reads, signs, writes } from './account-uses.ts'
import { key, type Caller } from './pool-sides.ts'
import {
  applyTrade,
  CREATOR_BPS,
  FEE_BPS,
  PUMPFUN_FEE_RECIPIENT,
  PUMPFUN_GLOBAL,
  PUMPFUN_PROGRAM,
  pumpfunEvents,
  quoteBuy,
  quoteSale,
  writeCurve,
  type CurveTrade,
  type PumpfunCurve
} from './pumpfun-curve.ts'
import { graduatePumpfun, launchPumpfun } from './pumpfun-lifecycle.ts'

// Source: pump-fun/pump-public-docs. A sale's lamports leave the curve without any instruction.

const FEE_PROGRAM = key('pfeeUxB6jkeY1Hxd7CsFCAjcbHA9rWtchMGdZ6VojVZ')
const FEE_CONFIG = programAddress(['fee_config', PUMPFUN_PROGRAM], FEE_PROGRAM)
const VOLUME = programAddress(['global_volume_accumulator'], PUMPFUN_PROGRAM)

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
  const data = isBuy
    ? buyExactSolIn.write({ spendableQuoteIn: amountIn, minTokensOut: 1n })
    : sell.write({ amount: amountIn, minSolOutput: 0n })
  const userTokens = ledger.tokenAccountOf(trader, curve.mint)
  const transfer = { mint: curve.mint, amount: tokens }
  script.call(PUMPFUN_PROGRAM, tradeAccounts(curve, trader, isBuy, ledger), data, (call) => {
    call.log(`Instruction: ${isBuy ? 'BuyExactSolIn' : 'Sell'}`)
    if (isBuy) {
      call.transfer({ ...transfer, from: curve.vault, to: userTokens, authority: curve.address })
      call.transferLamports(trader, curve.address, lamports)
      call.transferLamports(trader, PUMPFUN_FEE_RECIPIENT, fee)
      call.transferLamports(trader, curve.creatorVault, creatorFee)
    } else {
      call.transfer({ ...transfer, from: userTokens, to: curve.vault, authority: trader })
      call.takeLamports(curve.address, trader, lamports - fee - creatorFee)
      call.takeLamports(curve.address, PUMPFUN_FEE_RECIPIENT, fee)
      call.takeLamports(curve.address, curve.creatorVault, creatorFee)
    }
    applyTrade(curve, trade, isBuy)
    writeCurve(call, curve)
    stateTrade(call, curve, trade, { trader, isBuy })
  })
  return isBuy
    ? { amountIn: lamports + fee + creatorFee, amountOut: tokens }
    : { amountIn: tokens, amountOut: lamports - fee - creatorFee }
}

function stateTrade(
  call: CallScript,
  curve: PumpfunCurve,
  { lamports, tokens, fee, creatorFee }: CurveTrade,
  { trader, isBuy }: { readonly trader: Pubkey; readonly isBuy: boolean }
): void {
  const timestamp = BigInt(call.blockTime)
  pumpfunEvents.state(
    call,
    tradeEvent.write({
      mint: curve.mint,
      solAmount: lamports,
      tokenAmount: tokens,
      isBuy,
      user: trader,
      timestamp,
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
      totalUnclaimedTokens: 0n,
      totalClaimedTokens: 0n,
      currentSolVolume: 0n,
      lastUpdateTimestamp: 0n,
      ixName: isBuy ? 'buy_exact_sol_in' : 'sell',
      mayhemMode: false,
      cashbackFeeBasisPoints: 0n,
      cashback: 0n,
      buybackFeeBasisPoints: 0n,
      buybackFee: 0n,
      shareholders: [],
      quoteMint: NATIVE_MINT,
      quoteAmount: lamports,
      virtualQuoteReserves: curve.virtualLamports,
      realQuoteReserves: curve.realLamports,
      holderRewardsBps: 0n,
      holderRewards: 0n,
      creatorFeeUnclaimed: 0n
    })
  )
  if (!curve.complete) return
  const ended = {
    user: trader,
    mint: curve.mint,
    bondingCurve: curve.address,
    timestamp,
    quoteMint: NATIVE_MINT
  }
  pumpfunEvents.state(call, completeEvent.write(ended))
}

/** 16 accounts of a buy, 14 of a sale. */
function tradeAccounts(
  curve: PumpfunCurve,
  trader: Pubkey,
  isBuy: boolean,
  ledger: LedgerView
): AccountUse[] {
  const { program } = ledger.mint(curve.mint)
  const head = [
    reads(PUMPFUN_GLOBAL),
    writes(PUMPFUN_FEE_RECIPIENT),
    reads(curve.mint),
    writes(curve.address),
    writes(curve.vault),
    writes(ledger.tokenAccountOf(trader, curve.mint)),
    signs(trader),
    reads(SYSTEM)
  ]
  const middle = isBuy
    ? [reads(program), writes(curve.creatorVault)]
    : [writes(curve.creatorVault), reads(program)]
  const volume = programAddress(['user_volume_accumulator', trader], PUMPFUN_PROGRAM)
  return [
    ...head,
    ...middle,
    reads(pumpfunEvents.authority),
    reads(PUMPFUN_PROGRAM),
    ...(isBuy ? [writes(VOLUME), writes(volume)] : []),
    reads(FEE_CONFIG),
    reads(FEE_PROGRAM)
  ]
}
