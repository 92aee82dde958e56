import { pubkey, struct, u16, u32, u64, u8, vec } from '../../src/chain/codec.ts'
import { instruction, layout } from '../../src/chain/layout.ts'

// Events in which aggregators state the swaps that they run through venues. They are a second source for the amounts of a
// route's legs.

const SWAP = { inputMint: pubkey, inputAmount: u64, outputMint: pubkey, outputAmount: u64 }
const LEG = { amm: pubkey, ...SWAP }

export const jupiterV4Swap = layout('Swap', '516ce3becdd00ac4', LEG)
export const jupiterSwapEvent = layout('SwapEvent', '40c6cde8260871e2', LEG)
export const jupiterFeeEvent = layout('FeeEvent', '494f4e7fb8d50ddc', {
  account: pubkey,
  mint: pubkey,
  amount: u64
})
export const jupiterSwapsEvent = layout('SwapsEvent', '982f4eebc0606e6a', { swaps: vec(struct(SWAP)) })

const OKX_ROUTE = struct({ dexes: vec(u8), weights: vec(u8) })

export const okxSwapV3 = instruction(
  'swap_v3',
  'f0e02621b01ff1af',
  {
    amountIn: u64,
    expectAmountOut: u64,
    minReturn: u64,
    amounts: vec(u64),
    routes: vec(vec(OKX_ROUTE)),
    commissionInfo: u32,
    platformFeeRate: u16,
    orderId: u64
  },
  {}
)
