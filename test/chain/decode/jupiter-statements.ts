import type { Layout } from '../../../src/chain/layout.ts'
import { pubkeyToBase58, type Pubkey } from '../../../src/chain/pubkey.ts'
import { jupiterFeeEvent, jupiterSwapEvent, jupiterSwapsEvent } from '../aggregator-layouts.ts'
import type { RawCall, RawRecord } from './raw-record.ts'

const JUPITER_V6 = 'JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4'

/** A leg as Jupiter states it. The input is the offer to the venue, which may take less. */
export interface StatedLeg {
  /** Null where the newer event does not say. */
  readonly program: string | null
  readonly inMint: string
  readonly offered: bigint
  readonly outMint: string
  readonly out: bigint
  readonly ixIndex: number
}

export interface JupiterStatement {
  readonly words: string
  readonly leg: StatedLeg | null
}

/** The events that Jupiter v6 stated through calls to itself, in order. */
export function statedByJupiter(raw: RawRecord): JupiterStatement[] {
  return raw.calls.filter(({ program }) => program === JUPITER_V6).flatMap(readStatement)
}

function readStatement({ data, ixIndex }: RawCall): JupiterStatement[] {
  const swap = readEvent(jupiterSwapEvent, data)
  if (swap !== null) return [swapStatement(swap, pubkeyToBase58(swap.amm), ixIndex)]
  const fee = readEvent(jupiterFeeEvent, data)
  if (fee !== null) {
    const words = feeWords(pubkeyToBase58(fee.account), pubkeyToBase58(fee.mint), fee.amount)
    return [{ words, leg: null }]
  }
  const swaps = readEvent(jupiterSwapsEvent, data)?.swaps ?? []
  return swaps.map((each) => swapStatement(each, null, ixIndex))
}

interface SwapBody {
  readonly inputMint: Pubkey
  readonly inputAmount: bigint
  readonly outputMint: Pubkey
  readonly outputAmount: bigint
}

function swapStatement(body: SwapBody, program: string | null, ixIndex: number): JupiterStatement {
  const inMint = pubkeyToBase58(body.inputMint)
  const outMint = pubkeyToBase58(body.outputMint)
  const leg = { program, inMint, offered: body.inputAmount, outMint, out: body.outputAmount, ixIndex }
  return { words: `${leg.offered} ${inMint} → ${leg.out} ${outMint}`, leg }
}

function readEvent<T>(layout: Layout<T>, data: Uint8Array): T | null {
  const start = data.subarray(0, 16).toHex()
  if (start !== `e445a52e51cb9a1d${layout.discriminator.toHex()}`) return null
  return layout.read(data, 16)?.value ?? null
}

export function feeWords(account: string, mint: string, amount: bigint | string): string {
  return `fee ${amount} ${mint} to ${account}`
}
