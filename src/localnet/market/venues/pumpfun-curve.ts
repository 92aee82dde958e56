import type { Pubkey } from '../../../chain/pubkey.ts'
import { ceilDiv, smaller } from '../curves/integers.ts'
import { programAddress } from '../../../signing/program-address.ts'
import type { CallScript } from '../script.ts'
import { key } from './pool-sides.ts'
import { Program } from './program.ts'
import { PUMP_FEES, feeConfigOf } from './pumpswap-pool.ts'
import { account } from './record.ts'

// Code shared by the instructions of Pump.fun. Source: pump-fun/pump-public-docs.

export const PUMPFUN_PROGRAM = key('6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P')
export const PUMPFUN_FEE_RECIPIENT = key('CebN5WGQ4jvEPvsVU4EoHEpgzq1VV7AbicfhtW4xC9iM')
export const MINT_AUTHORITY = programAddress(['mint-authority'], PUMPFUN_PROGRAM)

export const pumpfun = new Program(PUMPFUN_PROGRAM, 'self-call', {
  global: key('4wTV1YmiEkRvAtNtsSGPtUrqRYQMe5SKy2uB4Jjaxnjf'),
  feeRecipient: PUMPFUN_FEE_RECIPIENT,
  mintAuthority: MINT_AUTHORITY,
  globalVolume: programAddress(['global_volume_accumulator'], PUMPFUN_PROGRAM),
  feeConfig: feeConfigOf(PUMPFUN_PROGRAM),
  feeProgram: PUMP_FEES
})

const curveAccount = account(
  166,
  '17b7f83760d8ac60',
  `virtualTokens:u64@8 virtualLamports:u64@16 realTokens:u64@24 realLamports:u64@32 supply:u64@40
  complete:bool@48 creator:pubkey@49 creatorFeeBps:u64@115 initialLamports:u64@142`
)

/** Reserves of a new curve in raw units and lamports, and the amount for sale. */
export const VIRTUAL_TOKENS = 1_073_000_000_000_000n
export const VIRTUAL_LAMPORTS = 30_000_000_000n
export const TOKENS_FOR_SALE = 793_100_000_000_000n
export const SUPPLY = 1_000_000_000_000_000n
export const DECIMALS = 6

export const FEE_BPS = 95n
export const CREATOR_BPS = 30n
const ONE = 10_000n

/** A curve as stored in its account. */
export interface PumpfunCurve {
  readonly address: Pubkey
  readonly mint: Pubkey
  readonly vault: Pubkey
  readonly creator: Pubkey
  readonly creatorVault: Pubkey
  virtualTokens: bigint
  virtualLamports: bigint
  realTokens: bigint
  realLamports: bigint
  complete: boolean
}

export function newCurve(mint: Pubkey, creator: Pubkey, vaultOf: (curve: Pubkey) => Pubkey): PumpfunCurve {
  const address = programAddress(['bonding-curve', mint], PUMPFUN_PROGRAM)
  return {
    address,
    mint,
    vault: vaultOf(address),
    creator,
    creatorVault: programAddress(['creator-vault', creator], PUMPFUN_PROGRAM),
    virtualTokens: VIRTUAL_TOKENS,
    virtualLamports: VIRTUAL_LAMPORTS,
    realTokens: TOKENS_FOR_SALE,
    realLamports: 0n,
    complete: false
  }
}

/** A trade in the curve's own amounts, with separate fees. */
export interface CurveTrade {
  readonly lamports: bigint
  readonly tokens: bigint
  readonly fee: bigint
  readonly creatorFee: bigint
}

/** Returns the trade for an amount of lamports, fees included; the last buy takes the rest for less. */
export function quoteBuy(curve: PumpfunCurve, spendable: bigint): CurveTrade | null {
  let lamports = (spendable * ONE) / (ONE + FEE_BPS + CREATOR_BPS)
  const excess = lamports + feesOf(lamports).fee + feesOf(lamports).creatorFee - spendable
  if (excess > 0n) lamports -= excess
  if (lamports <= 1n || curve.complete) return null
  const bought = ((lamports - 1n) * curve.virtualTokens) / (curve.virtualLamports + lamports - 1n)
  const tokens = smaller(bought, curve.realTokens)
  if (tokens <= 0n) return null
  if (tokens === curve.realTokens) {
    lamports = ceilDiv(tokens * curve.virtualLamports, curve.virtualTokens - tokens) + 1n
  }
  return { lamports, tokens, ...feesOf(lamports) }
}

export function quoteSale(curve: PumpfunCurve, tokens: bigint): CurveTrade | null {
  if (curve.complete || tokens <= 0n) return null
  const lamports = (tokens * curve.virtualLamports) / (curve.virtualTokens + tokens)
  const fees = feesOf(lamports)
  if (lamports <= fees.fee + fees.creatorFee || lamports > curve.realLamports) return null
  return { lamports, tokens, ...fees }
}

function feesOf(lamports: bigint): { fee: bigint; creatorFee: bigint } {
  return { fee: ceilDiv(lamports * FEE_BPS, ONE), creatorFee: ceilDiv(lamports * CREATOR_BPS, ONE) }
}

/** Applies a trade to the reserves; a curve whose tokens are sold is complete. */
export function applyTrade(curve: PumpfunCurve, { lamports, tokens }: CurveTrade, isBuy: boolean): void {
  const sign = isBuy ? 1n : -1n
  curve.virtualTokens -= sign * tokens
  curve.realTokens -= sign * tokens
  curve.virtualLamports += sign * lamports
  curve.realLamports += sign * lamports
  curve.complete = curve.realTokens === 0n
}

export function writeCurve(call: CallScript, curve: PumpfunCurve): void {
  const terms = { supply: SUPPLY, creatorFeeBps: CREATOR_BPS, initialLamports: VIRTUAL_LAMPORTS }
  call.write(curve.address, curveAccount({ ...curve, ...terms }))
}
